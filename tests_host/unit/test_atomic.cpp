/* SPDX-License-Identifier: MIT */
/*
 * Tests of the result and the stored value of every operation, for each type,
 * on this port.
 */
#include <operations/values.hpp>

#include <catch.hpp>

using namespace klock;

TEST_CASE("atomic: every operation of every type computes what its name says")
{
	const tests::report r = tests::try_all_values<tests::KLOCK_TYPES>();

	INFO(r.operation << " of " << r.bytes << " bytes: found " << r.found
			 << ", operand " << r.operand);
	CHECK(r.failed == 0);
	CHECK(r.checked > 50'000);
}

TEST_CASE("atomic: a value that was made at compile time, and the default")
{
	static constinit atomic<int> minus{-1};
	static constinit atomic<tests::scoped> two{tests::scoped::two};
	static constinit atomic<bool> yes{true};
	const atomic<long> zero;

	CHECK(minus.fetch_sub_relaxed(1) == -1);
	CHECK(minus.load_relaxed() == -2);
	CHECK(two.load_relaxed() == tests::scoped::two);
	CHECK(yes.load_relaxed());
	CHECK(zero.load_relaxed() == 0);
}

TEMPLATE_TEST_CASE("atomic: fields that are accessed together stay two", "", u8,
		   u16)
{
	using T = TestType;
	const T most = static_cast<T>(~T{});

	for (const T lower : {T{0}, T{7}, most}) {
		for (const T upper : {T{2}, T{9}, most}) {
			const fields<T, 4> start{{lower, upper, most, most}};
			paired_fields<T> x(start);
			const auto left = [&x]() -> fields<T, 4> {
				return {{x.load_relaxed(field<0>{}),
					 x.load_acquire(field<1>{}),
					 x.load_relaxed(field<2>{}),
					 x.load_relaxed(field<3>{})}};
			};
			const T next = static_cast<T>(lower + 1);
			const T less = static_cast<T>(upper - 2);

			CHECK(left() == start);
			/* As phase_fair_lock's unlock: both, at the wrap too */
			x.advance_release({{lower, 2, 0, 0}},
					  {{next, 0, 0, 0}});
			CHECK(left() == fields<T, 4>{{next, less, most, most}});
			/* The carry falls off. */
			CHECK(x.fetch_add_acquire(field<1>{}, most) == less);
			const T then = static_cast<T>(less + most);
			CHECK(x.fetch_add_release(field<3>{}, 1) == most);
			CHECK(left() == fields<T, 4>{{next, then, most, 0}});
			CHECK(x.await_eq_relaxed(field<0>{}, next) == next);
			CHECK(x.await_acquire(field<1>{}, [then](T now) {
				return now == then;
			}) == then);
			CHECK_FALSE(x.compare_exchange_acquire(start, {}));
			CHECK(x.compare_exchange_acquire(left(), start));
			CHECK(left() == start);
		}
	}
}
