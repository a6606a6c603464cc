/* SPDX-License-Identifier: MIT */
/*
 * What an engine is told of every operation: its order, its width, its bits;
 * and what the checker computes.
 */
#include <model/model.hpp>
#include <operations/recorder.hpp>
#include <operations/values.hpp>

#include <catch.hpp>

#include <string>

using namespace klock;
using namespace klock::tests;

namespace {

constexpr site there{"caller.cpp", 42};

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

/* One operation was asked for: this one, by its name, over all of x. */
template <typename T>
void look(const recorder &r, const char *name, request what, const T &x)
{
	INFO(name << " of " << sizeof(T) << " bytes");
	REQUIRE(r.calls.size() == 1);
	CHECK(r.calls[0].what == what);
	CHECK(r.calls[0].ord == order_of(name));
	CHECK(r.calls[0].where.line == there.line);
	CHECK(r.calls[0].at.at == &x);
	CHECK(r.calls[0].at.bytes == sizeof(T));
}

template <typename T>
struct order_test {
	const u64 ones = bits_of(value_of<T>(~u64{0}));
	const u64 two = bits_of(value_of<T>(2));
	const T found = value_of<T>(~u64{0});
	const T operand = value_of<T>(2);
	atomic<T> x{};

	const call &look(const recorder &r, const char *name, request what)
	{
		::look(r, name, what, x);
		CHECK(r.calls[0].at.shift == 0);
		CHECK(r.calls[0].at.bits == 8 * sizeof(T));
		CHECK(r.calls[0].at.what == kind_of<T>());
		return r.calls[0];
	}

	template <typename Op>
	void load()
	{
		recorder r(ones);

		CHECK((x.*Op::call)(there) == found);
		look(r, Op::name, request::load);
	}

	template <typename Op>
	void store()
	{
		recorder r(ones);

		(x.*Op::call)(operand, there);
		CHECK(look(r, Op::name, request::store).operand == two);
	}

	template <typename Op>
	void change()
	{
		recorder r(ones);

		CHECK((x.*Op::call)(operand, there) == found);
		const call &c = look(r, Op::name, request::rmw);
		CHECK(c.how == update_of(Op::name));
		CHECK(c.operand == two);
	}

	template <typename Op>
	void swap()
	{
		for (const T wanted : {found, value_of<T>(0)}) {
			recorder r(ones);
			T expected = wanted;

			CHECK((x.*Op::call)(expected, operand, there) ==
			      (wanted == found));
			CHECK(expected == found);
			const call &c = look(r, Op::name, request::swap);
			CHECK(c.operand == two);
			CHECK(c.expected == bits_of(wanted));
		}
	}

	template <typename Op>
	void wait()
	{
		const bool eq = begins_with(Op::name, "await_eq_");

		for (const T wanted : {found, value_of<T>(0)}) {
			recorder r(ones);

			CHECK((x.*Op::call)(wanted, there) == found);
			const call &c = look(r, Op::name, request::wait);
			CHECK(c.operand == ((wanted == found) == eq));
			CHECK_FALSE(c.paced);
		}
	}

	/* The waits that take callables. */
	template <typename Wait>
	void wait_by(const char *name, Wait by)
	{
		for (const bool holds : {false, true}) {
			recorder r(ones);
			const auto done = [&](T v) {
				return v == found && holds;
			};

			CHECK(by(done) == found);
			const call &c = look(r, name, request::wait);
			CHECK(c.operand == holds);
			CHECK(c.paced == begins_with(name, "await_paced_"));
			CHECK(c.turns == (c.paced ? 7 : 1));
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

	void other_waits()
	{
		const auto done = [this](T v) { return v == found; };
		const auto other_done = [this](T v) { return v != found; };
		atomic<T> y;

		{
			recorder r(ones);
			CHECK(x.await_exchange_acquire(operand, done, there) ==
			      found);
			const call &c = look(r, "await_exchange_acquire",
					     request::exchange_wait);
			CHECK(c.operand == two);
			CHECK(c.expected == 1);
		}
		recorder r(ones);
		x.await_either_acquire(done, y, other_done, there);
		const call &c =
			look(r, "await_either_acquire", request::either);
		CHECK(c.operand == 1);
		CHECK(c.expected == 0);
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
		other_waits();
		exchanges<T>::for_each(each);
		if constexpr (integer<T>)
			sums<T>::for_each(each);
		if constexpr (bit_set<T>)
			bit_changes<T>::for_each(each);
	}
};

template <typename T, half H>
struct half_test {
	atomic_pair<T> x;

	const call &look(const recorder &r, const char *name, request what)
	{
		::look(r, name, what, x);
		CHECK(r.calls[0].at.pair);
		CHECK(r.calls[0].at.bits == 8 * sizeof(T));
		CHECK(r.calls[0].at.shift ==
		      (H == half::first ? 0 : 8 * sizeof(T)));
		return r.calls[0];
	}

	void all()
	{
		half_loads<T, H>::for_each([&]<typename Op>() {
			recorder r(3);
			CHECK((x.*Op::call)(there) == 3);
			look(r, Op::name, request::load);
		});
		half_stores<T, H>::for_each([&]<typename Op>() {
			recorder r(3);
			(x.*Op::call)(4, there);
			CHECK(look(r, Op::name, request::store).operand == 4);
		});
		half_sums<T, H>::for_each([&]<typename Op>() {
			recorder r(3);
			CHECK((x.*Op::call)(4, there) == 3);
			const call &c = look(r, Op::name, request::rmw);
			CHECK(c.how == hooked::update::add);
			CHECK(c.operand == 4);
		});
		half_waits<T, H>::for_each([&]<typename Op>() {
			recorder r(3);
			CHECK((x.*Op::call)(3, there) == 3);
			CHECK(look(r, Op::name, request::wait).operand == 1);
		});
		recorder r(3);
		CHECK(x.template await_paced_acquire<H>(
			      [](T v) { return v == 3; },
			      [](T v) { return v + 4u; }, there) == 3);
		const call &c = look(r, "await_paced_acquire", request::wait);
		CHECK(c.operand == 1);
		CHECK(c.turns == 7);
	}
};

template <typename T>
void try_pair_swaps()
{
	pair_swaps<T>::for_each([]<typename Op>() {
		for (const T second : {T{2}, T{3}}) {
			atomic_pair<T> x;
			recorder r(1 | u64{2} << 8 * sizeof(T));

			CHECK((x.*Op::call)({1, second}, {5, 6}, there) ==
			      (second == 2));
			look(r, Op::name, request::swap, x);
			CHECK(r.calls[0].at.pair);
			CHECK(r.calls[0].at.bits == 16 * sizeof(T));
			CHECK(r.calls[0].operand ==
			      (5 | u64{6} << 8 * sizeof(T)));
		}
	});
}

} // namespace

TEST_CASE("operations: an engine is told each one's order, width and bits")
{
	all_types::for_each([]<typename T>() { order_test<T>().all(); });
	pair_types::for_each([]<typename T>() {
		half_test<T, half::first>().all();
		half_test<T, half::second>().all();
		try_pair_swaps<T>();
	});
}

TEST_CASE("operations: an engine is told each fence's order")
{
	tests::fences::for_each([]<typename Op>() {
		recorder r(0);

		Op::call(there);
		INFO(Op::name);
		REQUIRE(r.calls.size() == 1);
		CHECK(r.calls[0].what == request::fence);
		CHECK(r.calls[0].ord == order_of(Op::name));
	});
}

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
