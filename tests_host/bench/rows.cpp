/* SPDX-License-Identifier: MIT */
#include "rows.hpp"
#include "peers/peers.hpp"

namespace bench {

namespace {

template <typename Contest>
std::unique_ptr<contest> make_floor(unsigned)
{
	return std::make_unique<Contest>();
}

template <typename L>
std::unique_ptr<contest> make_lock(unsigned threads)
{
	return std::make_unique<lock_contest<L>>(threads);
}

template <typename Contest>
row floor_row(const char *name, u64 capacity)
{
	return {.name = name,
		.what = kind::floor,
		.counterpart = "",
		.fifo = false,
		.capacity = capacity,
		.bytes = 4,
		.make = make_floor<Contest>};
}

template <typename Subject>
row lock_row(kind what, const char *counterpart)
{
	using lock = typename Subject::lock;
	return {.name = Subject::name,
		.what = what,
		.counterpart = counterpart,
		.fifo = Subject::order_of_service ==
			klock::selftest::service::fifo,
		.capacity = Subject::capacity,
		.bytes = sizeof(lock),
		.make = make_lock<lock>};
}

template <unsigned Cpus>
std::vector<row> make_rows()
{
	std::vector<row> rows;

	rows.push_back(floor_row<bare_xadd>(bare_xadd_name, 1));
	rows.push_back(floor_row<bare_exchange>(bare_exchange_name, 1));
	rows.push_back(floor_row<ping_pong>(ping_pong_name, 2));
	klock::selftest::all_locks<Cpus>::for_each([&]<typename Subject>() {
		rows.push_back(lock_row<Subject>(kind::klock, ""));
	});
	for_each_peer([&]<typename Subject>() {
		rows.push_back(
			lock_row<Subject>(kind::peer, Subject::counterpart));
	});
	return rows;
}

} // namespace

const std::vector<row> &rows_for(unsigned threads)
{
	static const auto pair = make_rows<2>();
	static const auto cpus = make_rows<KLOCK_BENCH_CPUS>();
	static const auto many =
		make_rows<most_threads_a_core * KLOCK_BENCH_CPUS>();

	if (threads <= 2)
		return pair;
	return threads <= KLOCK_BENCH_CPUS ? cpus : many;
}

const row *find_row(const std::string &name)
{
	for (const row &r : rows_for(1))
		if (r.name == name)
			return &r;
	return nullptr;
}

std::vector<std::string> missing_peers()
{
	std::vector<std::string> names;

	for (const char *name : peers_not_found)
		if (name)
			names.push_back(name);
	return names;
}

const char *name_of(kind what)
{
	switch (what) {
	case kind::floor:
		return "floor";
	case kind::klock:
		return "klock";
	case kind::peer:
		return "peer";
	}
	return "?";
}

namespace {

using klock::selftest::sharing;

template <typename L>
std::unique_ptr<shared_contest> make_contest(unsigned threads)
{
	return std::make_unique<shared_lock_contest<L>>(threads);
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
		.make = make_contest<L>};
}

template <unsigned Cpus>
std::vector<shared_row> make_shared_rows()
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
	static const auto pair = make_shared_rows<2>();
	static const auto cpus = make_shared_rows<KLOCK_BENCH_CPUS>();

	return threads <= 2 ? pair : cpus;
}

} // namespace bench
