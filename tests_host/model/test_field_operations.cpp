/* SPDX-License-Identifier: MIT */
/*
 * What an engine is told of an operation on one of several fields, and on all.
 */
#include <operations/look.hpp>

#include <catch.hpp>

using namespace klock;
using namespace klock::tests;

namespace {

template <typename T, usize N, usize I>
struct field_test {
	findings &wrong;
	recorder r{3};
	atomic_fields<T, N> x{};

	explicit field_test(findings &to) : wrong(to) {}

	look by(const char *name)
	{
		r.calls.clear();
		return {wrong, name, sizeof(x), r};
	}

	call the_call(const look &l, request what)
	{
		const call c = l.at(what, &x, 8 * I * sizeof(T), 8 * sizeof(T));

		l.expect(c.at.field == 8 * sizeof(T), "that it is a field");
		return c;
	}

	void all()
	{
		field_loads<T, N, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			l.expect((x.*Op::call)(there) == 3, "what it returns");
			the_call(l, request::load);
		});
		field_stores<T, N, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			(x.*Op::call)(4, there);
			l.expect(the_call(l, request::store).operand == 4,
				 "its value");
		});
		field_exchanges<T, N, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			l.expect((x.*Op::call)(4, there) == 3,
				 "what it returns");
			const call c = the_call(l, request::rmw);
			l.expect(c.how == hooked::update::exchange &&
					 c.operand == 4,
				 "what it makes");
		});
		field_sums<T, N, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			l.expect((x.*Op::call)(4, there) == 3,
				 "what it returns");
			const call c = the_call(l, request::rmw);
			l.expect(c.how == hooked::update::add && c.operand == 4,
				 "what it makes");
		});
		field_waits<T, N, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			l.expect((x.*Op::call)(3, there) == 3,
				 "what it returns");
			l.expect(the_call(l, request::wait).operand == 1,
				 "what it waits for");
		});
		const look l = by("await_acquire");
		l.expect(x.template await_acquire<I>([](T v) { return v == 3; },
						     there) == 3,
			 "what it returns");
		l.expect(the_call(l, request::wait).operand == 1,
			 "what it waits for");
	}
};

template <typename T, usize N>
void try_all_fields(findings &wrong)
{
	const unsigned bits = 8 * sizeof(T);
	const u64 second = u64{2} << bits;

	field_swaps<T, N>::for_each([&]<typename Op>() {
		for (const T other : {T{2}, T{3}}) {
			atomic_fields<T, N> x;
			recorder r(1 | second);
			const look l{wrong, Op::name, sizeof(x), r};

			l.expect((x.*Op::call)({{1, other}}, {{5, 6}}, there) ==
					 (other == 2),
				 "what it returns");
			const call c =
				l.at(request::swap, &x, 0, 8 * sizeof(x));
			l.expect(c.at.field == bits, "that it has fields");
			l.expect(c.operand == (5 | u64{6} << bits),
				 "its operand");
		}
	});
	field_advances<T, N>::for_each([&]<typename Op>() {
		atomic_fields<T, N> x;
		recorder r(0);
		const look l{wrong, Op::name, sizeof(x), r};

		(x.*Op::call)({{1}}, {{0, 2}}, there);
		const call c = l.at(request::rmw, &x, 0, 8 * sizeof(x));
		l.expect(c.at.field == bits, "that it has fields");
		l.expect(c.how == hooked::update::add &&
				 c.operand == (second - 1 & c.at.mask()),
			 "what it makes");
	});
}

} // namespace

TEST_CASE("operations: an engine is told what becomes of several fields")
{
	findings wrong;

	field_types::for_each([&]<typename T, usize N>() {
		field_test<T, N, 0>(wrong).all();
		field_test<T, N, N - 1>(wrong).all();
		try_all_fields<T, N>(wrong);
	});
	CHECK(wrong == findings{});
}
