/* SPDX-License-Identifier: MIT */
#include "shared_rows.hpp"
#include "peers/peers.hpp"

namespace bench {

namespace {

using klock::selftest::sharing;

template <typename L>
std::unique_ptr<shared_bed> make_bed(unsigned threads)
{
	return std::make_unique<shared_lock_bed<L>>(threads);
}

template <typename L>
shared_row row_of(const char *name, kind what, bool fair, u64 capacity)
{
	return {.name = name,
		.what = what,
		.fair = fair,
		.shares = klock::shared_lockable<L> || reads_with_node<L>,
		.capacity = capacity,
		.bytes = sizeof(L),
		.make = make_bed<L>};
}

template <unsigned Cpus>
std::vector<shared_row> make_rows()
{
	std::vector<shared_row> rows;

	rows.push_back(row_of<klock::ticket_lock<klock::u16>>(
		"ticket_lock<u16>", kind::klock, true, 65536));
	klock::selftest::all_shared_locks<Cpus>::for_each(
		[&]<typename Subject>() {
			rows.push_back(row_of<typename Subject::lock>(
				Subject::name, kind::klock,
				Subject::order_of_sharing !=
					sharing::writers_first,
				std::min(Subject::capacity,
					 Subject::reader_capacity)));
		});
	for_each_shared_peer([&]<typename Peer>() {
		rows.push_back(row_of<typename Peer::lock>(
			Peer::name, kind::peer, Peer::fair, ~u64{0}));
	});
	return rows;
}

} // namespace

const std::vector<shared_row> &shared_rows_for(unsigned threads)
{
	static const auto pair = make_rows<2>();
	static const auto cpus = make_rows<KLOCK_BENCH_CPUS>();

	return threads <= 2 ? pair : cpus;
}

} // namespace bench
