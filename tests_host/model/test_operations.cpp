/* SPDX-License-Identifier: MIT */
/* An engine is told the order, the width and the bits of every operation. */
#include <model/model.hpp>

#include <catch.hpp>

#include <operations/recorder.hpp>
#include <operations/values.hpp>
#include <string>

namespace of_operations {

using namespace klock;
using namespace klock::tests;

namespace {

/* How a read-modify-write of this name is called by an engine. */
hooked::update update_of(const char *name)
{
	if (begins_with(name, "fetch_add_"))
		return hooked::update::add;
	if (begins_with(name, "fetch_sub_"))
		return hooked::update::subtract;
	if (begins_with(name, "fetch_or_"))
		return hooked::update::bit_or;
	if (begins_with(name, "fetch_and_"))
		return hooked::update::bit_and;
	if (begins_with(name, "fetch_xor_"))
		return hooked::update::bit_xor;
	return hooked::update::exchange;
}

template <typename T>
hooked::holds kind_of()
{
	if constexpr (!integer<T>)
		return hooked::holds::other;
	else
		return static_cast<T>(~T{}) < T{1}
			       ? hooked::holds::signed_number
			       : hooked::holds::counter;
}

template <typename T>
struct order_test {
	findings &wrong;
	const u64 ones = bits_of(value_of<T>(~u64{0}));
	const u64 two = bits_of(value_of<T>(2));
	const T found = value_of<T>(~u64{0});
	const T operand = value_of<T>(2);
	atomic<T> x{};
	atomic<T> y{};

	explicit order_test(findings &to) : wrong(to) {}

	look by(const char *name, const recorder &r)
	{
		return {wrong, name, sizeof(T), r};
	}

	call the_call(const look &l, request what)
	{
		const call c = l.at(what, &x, 0, 8 * sizeof(T));

		l.expect(c.at.what == kind_of<T>(), "what it holds");
		return c;
	}

	template <typename Op>
	void load()
	{
		recorder r(ones);
		const look l = by(Op::name, r);

		l.expect((x.*Op::call)(there) == found, "what it returns");
		the_call(l, request::load);
	}

	template <typename Op>
	void store()
	{
		recorder r(ones);
		const look l = by(Op::name, r);

		(x.*Op::call)(operand, there);
		l.expect(the_call(l, request::store).operand == two,
			 "its value");
	}

	template <typename Op>
	void change()
	{
		recorder r(ones);
		const look l = by(Op::name, r);

		l.expect((x.*Op::call)(operand, there) == found,
			 "what it returns");
		const call c = the_call(l, request::rmw);
		l.expect(c.how == update_of(Op::name), "what it makes");
		l.expect(c.operand == two, "its operand");
	}

	template <typename Op>
	void swap()
	{
		for (const T wanted : {found, value_of<T>(0)}) {
			recorder r(ones);
			const look l = by(Op::name, r);
			T expected = wanted;

			l.expect((x.*Op::call)(expected, operand, there) ==
					 (wanted == found),
				 "what it returns");
			l.expect(expected == found, "expected");
			const call c = the_call(l, request::swap);
			l.expect(c.operand == two &&
					 c.expected == bits_of(wanted),
				 "its operands");
		}
	}

	template <typename Op>
	void wait()
	{
		const bool eq = begins_with(Op::name, "await_eq_");

		for (const T wanted : {found, value_of<T>(0)}) {
			recorder r(ones);
			const look l = by(Op::name, r);

			l.expect((x.*Op::call)(wanted, there) == found,
				 "what it returns");
			const call c = the_call(l, request::wait);
			l.expect(c.operand == ((wanted == found) == eq),
				 "what it waits for");
			l.expect(!c.paced, "its pace");
		}
	}

	/* The waits that take callables. */
	template <typename Wait>
	void wait_by(const char *name, Wait wait)
	{
		for (const bool holds : {false, true}) {
			recorder r(ones);
			const look l = by(name, r);

			l.expect(wait([&](T v) {
					 return v == found && holds;
				 }) == found,
				 "what it returns");
			const call c = the_call(l, request::wait);
			l.expect(c.operand == holds, "what it waits for");
			const bool paced = begins_with(name, "await_paced_");
			l.expect(c.paced == paced && c.turns == (paced ? 7 : 1),
				 "its pace");
		}
	}

	void waits_by_predicate()
	{
		const auto pace = [this](T v) { return v == found ? 7u : 0u; };

		wait_by("await_relaxed", [&](auto done) {
			return x.await_relaxed(done, there);
		});
		wait_by("await_acquire", [&](auto done) {
			return x.await_acquire(done, there);
		});
		wait_by("await_seq_cst", [&](auto done) {
			return x.await_seq_cst(done, there);
		});
		wait_by("await_paced_relaxed", [&](auto done) {
			return x.await_paced_relaxed(done, pace, there);
		});
		wait_by("await_paced_acquire", [&](auto done) {
			return x.await_paced_acquire(done, pace, there);
		});
	}

	void wait_by_exchange()
	{
		recorder r(ones);
		const look l = by("await_exchange_acquire", r);

		l.expect(x.await_exchange_acquire(
				 operand, [this](T v) { return v == found; },
				 there) == found,
			 "what it returns");
		const call c = the_call(l, request::exchange_wait);
		l.expect(c.operand == two && c.expected == 1, "its operands");
	}

	void wait_for_either()
	{
		recorder r(ones);
		const look l = by("await_either_acquire", r);

		x.await_either_acquire([this](T v) { return v == found; }, y,
				       [this](T v) { return v != found; },
				       there);
		const call c = the_call(l, request::either);
		l.expect(c.operand == 1 && c.expected == 0,
			 "what it waits for");
	}

	void all()
	{
		const auto each = [&]<typename Op>() { change<Op>(); };

		loads<T>::for_each([&]<typename Op>() { load<Op>(); });
		stores<T>::for_each([&]<typename Op>() { store<Op>(); });
		swaps<T>::for_each([&]<typename Op>() { swap<Op>(); });
		waits_for_value<T>::for_each(
			[&]<typename Op>() { wait<Op>(); });
		waits_by_predicate();
		wait_by_exchange();
		wait_for_either();
		exchanges<T>::for_each(each);
		if constexpr (integer<T>)
			sums<T>::for_each(each);
		if constexpr (bit_set<T>)
			bit_changes<T>::for_each(each);
	}
};

/* One half of a pair, or one of several fields. */
template <typename T, typename X, usize I>
struct part_test {
	findings &wrong;
	recorder r{3};
	X x{};

	explicit part_test(findings &to) : wrong(to) {}

	look by(const char *name)
	{
		r.calls.clear();
		return {wrong, name, sizeof(x), r};
	}

	call the_call(const look &l, request what)
	{
		const call c = l.at(what, &x, 8 * I * sizeof(T), 8 * sizeof(T));

		l.expect(c.at.field == 8 * sizeof(T), "that it is a part");
		return c;
	}

	template <typename Op>
	void change(hooked::update how)
	{
		const look l = by(Op::name);

		l.expect((x.*Op::call)(field<I>{}, 4, there) == 3,
			 "what it returns");
		const call c = the_call(l, request::rmw);
		l.expect(c.how == how && c.operand == 4, "what it makes");
	}

	void all()
	{
		field_loads<X, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			l.expect((x.*Op::call)(field<I>{}, there) == 3,
				 "what it returns");
			the_call(l, request::load);
		});
		field_stores<X, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			(x.*Op::call)(field<I>{}, 4, there);
			l.expect(the_call(l, request::store).operand == 4,
				 "its value");
		});
		field_exchanges<X, I>::for_each([&]<typename Op>() {
			change<Op>(hooked::update::exchange);
		});
		field_sums<X, I>::for_each([&]<typename Op>() {
			change<Op>(hooked::update::add);
		});
		field_waits<X, I>::for_each([&]<typename Op>() {
			const look l = by(Op::name);
			l.expect((x.*Op::call)(field<I>{}, 3, there) == 3,
				 "what it returns");
			l.expect(the_call(l, request::wait).operand == 1,
				 "what it waits for");
		});
	}
};

template <typename T, usize I>
struct half_test : part_test<T, atomic_pair<T>, I> {
	using part = part_test<T, atomic_pair<T>, I>;
	using part::part;
	using part::x;

	void all()
	{
		part::all();
		exchanged();
		paced();
	}

	void exchanged()
	{
		const look l = this->by("await_exchange_acquire");

		l.expect(x.await_exchange_acquire(
				 field<I>{}, 4, [](T v) { return v == 3; },
				 there) == 3,
			 "what it returns");
		l.expect(this->the_call(l, request::exchange_wait).operand == 4,
			 "what it exchanges in");
	}

	void paced()
	{
		const look l = this->by("await_paced_acquire");

		l.expect(x.await_paced_acquire(
				 field<I>{}, [](T v) { return v == 3; },
				 [](T v) { return v + 4u; }, there) == 3,
			 "what it returns");
		const call c = this->the_call(l, request::wait);
		l.expect(c.operand == 1 && c.turns == 7, "what it waits for");
	}
};

template <typename T>
void try_pair_swaps(findings &wrong)
{
	pair_swaps<T>::for_each([&]<typename Op>() {
		for (const T second : {T{2}, T{3}}) {
			atomic_pair<T> x;
			recorder r(1 | u64{2} << 8 * sizeof(T));
			const look l{wrong, Op::name, 2 * sizeof(T), r};

			l.expect((x.*Op::call)({1, second}, {5, 6}, there) ==
					 (second == 2),
				 "what it returns");
			const call c =
				l.at(request::swap, &x, 0, 16 * sizeof(T));
			l.expect(c.at.field == 8 * sizeof(T),
				 "that it is a pair");
			l.expect(c.operand == (5 | u64{6} << 8 * sizeof(T)),
				 "its operand");
		}
	});
}

} // namespace

TEST_CASE("operations: an engine is told each one's order, width and bits")
{
	findings wrong;

	KLOCK_TYPES::values::for_each(
		[&]<typename T>() { order_test<T>(wrong).all(); });
	pair_types::for_each([&]<typename T>() {
		half_test<T, 0>(wrong).all();
		half_test<T, 1>(wrong).all();
		try_pair_swaps<T>(wrong);
	});
	CHECK(wrong == findings{});
}

TEST_CASE("operations: an engine is told each fence's order")
{
	findings wrong;

	tests::fences::for_each([&]<typename Op>() {
		recorder r(0);
		const look l{wrong, Op::name, 0, r};

		Op::call(there);
		l.at(request::fence, nullptr, 0, 0);
	});
	CHECK(wrong == findings{});
}

} // namespace of_operations

namespace of_operation_values {

/*
 * Tests of the results of the hooked port and the checker, for every operation
 * and type.
 */

using namespace klock;
using namespace klock::tests;

TEST_CASE("operations: without an engine they act on the memory")
{
	const report r = try_all_values();

	INFO(r.operation << " of " << r.bytes << " bytes");
	CHECK(r.failed == 0);
}

TEST_CASE("operations: the checker computes what the name says")
{
	struct nothing {};
	report r;
	bool ok = true;
	const auto on_a_cpu = [&](auto piece) {
		if (!ok)
			return;
		const auto found = model::explore<nothing>(
			{.sections = {1}},
			[&](nothing &, unsigned) { piece(r); },
			[](nothing &) {});
		INFO(found.message << "\n" << found.timeline);
		CHECK((ok = found.ok() && found.exhaustive && !r.failed));
	};

	each_piece_of_values(on_a_cpu);
	each_piece_of_pairs(on_a_cpu);
	each_piece_of_fields(on_a_cpu);
	INFO(r.operation << " of " << r.bytes << " bytes, found " << r.found
			 << ", operand " << r.operand);
	CHECK(r.failed == 0);
	CHECK(r.checked > 100'000);
}

namespace {

struct counted {
	atomic<int> count{0};
	atomic<u8> ticket{3};
	atomic<wide> state{wide::most};
};

} // namespace

TEST_CASE("operations: counter_bits narrows counters, and nothing else")
{
	const auto r = model::explore<counted>(
		{.sections = {1}, .counter_bits = 2},
		[](counted &c, unsigned) {
			c.count.fetch_add_relaxed(-1);
			c.ticket.fetch_add_relaxed(1);
			c.state.exchange_relaxed(wide::minus);
		},
		[](counted &c) {
			model::check(c.count.load_relaxed() == -1, "count");
			model::check(c.ticket.load_relaxed() == 0, "ticket");
			model::check(c.state.load_relaxed() == wide::minus,
				     "state");
		});

	INFO(r.message << "\n" << r.timeline);
	CHECK(r.ok());
	CHECK(r.complete == 1);
}

TEST_CASE("operations: a timeline shows a negative number as one")
{
	const auto r = model::explore<counted>(
		{.sections = {1}},
		[](counted &c, unsigned) {
			c.count.fetch_sub_relaxed(5);
			model::check(false);
		},
		[](counted &) {});

	INFO(r.timeline);
	CHECK(r.timeline.find("fetch_sub") != std::string::npos);
	CHECK(r.timeline.find("0 -> -5") != std::string::npos);
}

} // namespace of_operation_values

namespace of_field_operations {

/* An engine is told of an operation on one of several fields, and on all. */

using namespace klock;
using namespace klock::tests;
using of_operations::part_test;

namespace {

template <typename T, usize N, usize I>
struct field_test : part_test<T, atomic_fields<T, N>, I> {
	using part = part_test<T, atomic_fields<T, N>, I>;
	using part::part;

	void all()
	{
		part::all();
		const look l = this->by("await_acquire");
		l.expect(this->x.await_acquire(
				 field<I>{}, [](T v) { return v == 3; },
				 there) == 3,
			 "what it returns");
		l.expect(this->the_call(l, request::wait).operand == 1,
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
				 c.operand == ((second - 1) & c.at.mask()),
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

} // namespace of_field_operations
