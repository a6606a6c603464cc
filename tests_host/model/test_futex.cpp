/* SPDX-License-Identifier: MIT */
/*
 * futex: no wake-up is lost, whatever is requeued or late; a node is left alone
 * after its wait has returned; with how many executions.
 */
#include "futex_worlds.hpp"
#include "sleep_counts.hpp"

#include <catch.hpp>

namespace sleeping {

/* The counts are PROVED-FUTEX's, but where a comment says in what they
 * differ. */
TEST_CASE("futex: a wait and a wake")
{
	counts(27, 18, on_addresses({}, "w0 d0k01"));
	counts(43, 24, on_addresses({}, "W0 d0k01"));
	counts(3821, 4429, on_addresses({}, "w0 w0 d0k02"));
	counts(6789, 7641, on_addresses({}, "w0 W0 d0k02"));
}

TEST_CASE("futex: a wake that changes the word under the lock")
{
	counts(29, 23, on_addresses({}, "w0 i01"));
	counts(1421, 1163, on_addresses({}, "w0 o01 W1"));
}

TEST_CASE("futex: a look at a page that is not there")
{
	counts(42, 30, on_addresses({}, "f0 d0k01"));
	counts(30528, 29065, on_addresses({}, "f0 w0 d0k02"));
}

TEST_CASE("futex: a look that releases the lock of the data")
{
	counts(76, 63, on_addresses({}, "h0 g0k01"));
}

TEST_CASE("futex: park returns for nothing")
{
	counts(72, 54, on_addresses({}, "w0 p0 d0k01"));
}

TEST_CASE("futex: requeue")
{
	counts(2640, 3045, on_addresses({}, "s0 c0r01c1k11 k11"));
	counts(708, 546, on_addresses({}, "S0 c0r01 k11"));
	counts(3042, 2318, on_addresses({}, "X0 r01 r10"));
	/* In one bucket, and to its own key. */
	counts(1242, 1138, on_addresses({}, "S0 r02 k21"));
	counts(1356, 1368, on_addresses({}, "S0 r00 k01"));
}

TEST_CASE("futex: any of two")
{
	/* 1168/933 where the client looks which word has changed. */
	counts(1144, 933, on_addresses({}, "a01 c0k01 c1k11"));
	counts(42, 24, on_addresses({}, "A01 c1k11"));
	counts(3721, 3334, on_addresses({}, "a02 c0k01 c2k21"));
}

TEST_CASE("futex: any of two, requeued, by a deadline", "[deep]")
{
	counts(16472, 14094, on_addresses({}, "Y01 r01 k12"));
}

TEST_CASE("futex: byte_mutex: exclusion")
{
	counts(62, 26, sections<byte_>(one_each, "ll"));
	counts(62, 26, sections<byte_fifo>(one_each, "ll"));
	/* 3582/937 where a swap that fails is followed by a load. */
	counts(3522, 934, sections<byte_>(two_one, "ll"));
	counts(3522, 934, sections<byte_once>(two_one, "ll"));
	counts(35, 3, sections<byte_once>(one_each, "tl"));
	counts(133, 65, sections<byte_once>(one_each, "Ll"));
	counts(5922, 2262, sections<byte_once>(two_one, "Ll"));
}

TEST_CASE("futex: byte_mutex: exclusion of three", "[deep]")
{
	counts(1307652, 629222, sections<byte_fifo>(three, "lll"));
}

TEST_CASE("futex: freed by the last who holds it")
{
	counts(62, 26, freed<byte_>(one_each, "ll"));
	counts(3522, 934, freed<byte_once>(two_one, "ll"));
	counts(221, 129, freed<byte_once>(one_each, "Ll"));
}

TEST_CASE("futex: byte_mutex: in turn: those who queue are served as they came")
{
	counts(792, 32, in_turn<byte_fifo>(three));
	counts(792, 32, in_turn<byte_>(three));
}

/* The one that is shipped: the same worlds, and more executions of them. */
TEST_CASE("futex: the inner lock, preemptable tickets")
{
	using shipped = detail::sleepers_lock;

	counts(43, 24, on_addresses<shipped>({}, "w0 d0k01"));
	counts(76, 34, on_addresses<shipped>({}, "S0 r01"));
}

TEST_CASE("futex: cost without a contender")
{
	const auto both = [](auto &lock) { lock.lock(), lock.unlock(); };
	const std::string of_byte = operations<byte_>(both);
	const std::string of_wake =
		operations<futex_table<2>>([](futex_table<2> &lot) {
			lot.wake({1, 1}, 1);
		});
	const std::string of_wait = operations<
		futex_table<2>>([](futex_table<2> &lot) {
		(void)lot.wait({1, 1}, [] { return futex_look::changed; });
	});

	INFO(of_byte << of_wake << of_wait);
	CHECK(rmws(of_byte) == 2);
	CHECK(times(of_byte, {"store ", "interrupts"}) == 0);
	CHECK(rmws(of_wake) == 1);
	CHECK(rmws(of_wait) == 1);
}

TEST_CASE("futex: orders needed")
{
	constexpr auto clients = [](const options &how, auto enough) {
		options o = how;

		o.sections = {1, 1};
		return enough(sections<byte_once>(o, "ll")) ||
		       enough(sections<byte_once>(o, "tl")) ||
		       enough(sections<byte_once>(o, "Ll")) ||
		       enough(freed<byte_once>(o, "Ll"));
	};

	proof::each_order_is_needed(clients, "byte_mutex.hpp", 5);

	/* A table has none of its own: the bucket's lock has, and parking. */
	constexpr auto of_table = [](const options &how, auto enough) {
		return enough(on_addresses(how, "w0 d0k01")) ||
		       enough(on_addresses(how, "W0 d0k01")) ||
		       enough(on_addresses(how, "S0 c0r01 k11")) ||
		       enough(on_addresses(how, "a01 c0k01 c1k11"));
	};
	std::set<std::string> of_lock;
	unsigned of_parking = 0;

	for (const model::use &u :
	     on_addresses({.record_uses = true}, "w0 d0k01").uses)
		for (const model::weakening &w : model::weakenings(u)) {
			const bool is_of_lock = orders::in_library(u);

			if (!is_of_lock && !u.file.ends_with("parking.hpp"))
				continue;
			if (!orders::found(of_table, w))
				continue;
			if (is_of_lock)
				of_lock.insert(orders::spelt(w));
			else
				of_parking++;
		}
	/* The lock's O1 is for many contenders. */
	CHECK(of_lock ==
	      std::set<std::string>{"ticket_lock.hpp O2 -> relaxed",
				    "ticket_lock.hpp O6 -> relaxed"});
	CHECK(of_parking == 2);
}

} // namespace sleeping
