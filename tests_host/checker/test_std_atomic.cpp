/* SPDX-License-Identifier: MIT */
/*
 * std::atomic under the checker: what each operation does, beside headers of
 * the standard library that have atomics of their own; what a timeline says.
 */
#include "examples.hpp"
#include "verdict.hpp"

#include <model/model.hpp>
#include <model/var.hpp>

#include <catch.hpp>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <stdatomic.h>
#include <stop_token>
#include <thread>
#include <vector>

namespace of_std_atomic {

namespace {

using enum std::memory_order;
using model::check;

enum class colour : unsigned char { red, green };
struct three {
	unsigned char a, b, c;
	friend bool operator==(const three &, const three &) = default;
};
struct eight {
	int a;
	float b;
};
struct node {
	node *next;
};

constinit std::atomic<int> at_compile_time{3};

static_assert(std::atomic<int>::is_always_lock_free);
static_assert(sizeof(std::atomic<three>) == 3);
static_assert(sizeof(std::atomic<eight>) == 8);
static_assert(alignof(std::atomic<eight>) == 8);
static_assert(__is_same(std::atomic<bool>::value_type, bool));
static_assert(__is_same(std::atomic_uint32_t, std::atomic<std::uint32_t>));

struct values {
	std::atomic<int> x{0}, y = 0;
	std::atomic<signed char> small{-1};
	std::atomic<colour> c{colour::red};
	std::atomic<three> t{};
	std::atomic<eight> e{};
	std::atomic<node *> p{nullptr};
	std::atomic<double> d{0};
	std::atomic<bool> b{false};
	std::atomic_flag f{};
	volatile std::atomic<unsigned> v{0};
	int raw = 7;
	node n[3];
};

/* One CPU: the values are those of a program without threads. */
model::result alone(void (*body)(values &))
{
	return model::explore<values>({.sections = {1}, .spurious = 0},
				      [body](values &w, unsigned) { body(w); });
}

void arithmetic(values &w)
{
	w.x = 5;
	check(w.x == 5 && w.x++ == 5 && ++w.x == 7 && w.x-- == 7, "++, --");
	check(--w.x == 5 && (w.x += 2) == 7 && (w.x -= 1) == 6, "+=, -=");
	check((w.x |= 9) == 15 && (w.x &= 6) == 6 && (w.x ^= 2) == 4, "bits");
	check(w.x.fetch_add(1) == 4 && w.x.fetch_sub(2) == 5, "fetch_add");
	check(w.x.exchange(-2) == 3 && w.x < 0, "signed");
	check(w.small.fetch_sub(127) == -1 && w.small == -128, "8 bits");
	check(w.small-- == -128 && w.small == 127, "wraps");
	w.v = 3;
	w.v++;
	check(w.v == 4 && w.v.load(relaxed) == 4, "volatile");
	w.d += 1.5;
	check(w.d.fetch_sub(0.5) == 1.5 && w.d == 1.0, "floating point");
	w.p = w.n;
	check(++w.p == w.n + 1 && w.p.fetch_add(1) == w.n + 1, "pointers");
	check((w.p -= 2) == w.n, "pointers");
	w.p = nullptr;
	check(!w.p, "no pointer");
}

void other_types(values &w)
{
	colour was = colour::green;
	three wanted{1, 2, 3};

	check(!w.c.compare_exchange_strong(was, was), "enum");
	check(was == colour::red, "what was found");
	w.c = colour::green;
	check(w.c == colour::green, "enum");
	w.t.store({1, 2, 3});
	check(w.t.compare_exchange_weak(wanted, {4, 5, 6}, acq_rel, relaxed),
	      "struct");
	check(w.t.load() == three{4, 5, 6}, "struct");
	w.e = eight{1, 2.5F};
	check(w.e.load().a == 1 && w.e.load().b == 2.5F, "struct of 8");
	w.b = true;
	check(w.b && w.b.exchange(false) && !w.b, "bool");
	check(!w.f.test_and_set() && w.f.test(), "flag");
	w.f.clear(release);
	check(!w.f.test_and_set(acquire), "flag");
}

void references(values &w)
{
	const std::atomic_ref<int> r(w.raw);
	const std::atomic_ref same = r;

	check(r == 7 && r.is_lock_free(), "starts with what is there");
	r.store(8, release);
	r.fetch_add(1);
	same.fetch_or(16);
	check(same == 25 && std::atomic_ref(w.raw)++ == 25, "one location");
	check((same -= 5) == 21, "one location");
}

void names_of_c(values &w)
{
	_Atomic(int) mine = ATOMIC_VAR_INIT(4);
	atomic_flag flag = ATOMIC_FLAG_INIT;
	atomic_uint count{1};
	int expected = 9;

	atomic_store(&w.x, 9U);
	atomic_store_explicit(&w.y, 1, memory_order_relaxed);
	check(atomic_load_explicit(&w.y, memory_order_acquire) == 1, "y");
	check(atomic_compare_exchange_strong(&w.x, &expected, 11), "swap");
	check(!atomic_compare_exchange_weak_explicit(&w.x, &expected, 1,
						     memory_order_seq_cst,
						     memory_order_relaxed) &&
		      expected == 11,
	      "no swap");
	check(atomic_fetch_add(&w.x, 1) == 11 && atomic_load(&w.x) == 12, "x");
	check(atomic_exchange(&mine, 5) == 4 && mine == 5, "_Atomic");
	check(atomic_fetch_xor(&count, 3U) == 1 && count == 2, "xor");
	check(!atomic_flag_test_and_set(&flag), "flag");
	atomic_flag_clear_explicit(&flag, memory_order_release);
	check(atomic_is_lock_free(&w.x), "free");
	atomic_thread_fence(memory_order_seq_cst);
	atomic_signal_fence(memory_order_acquire);
}

} // namespace

TEST_CASE("std::atomic: that plain variables are not seen is said")
{
	const auto run = [](bool right) {
		return model::explore<values>({.sections = {1, 1}},
					      [right](values &w, unsigned) {
						      w.raw++;
						      w.x++;
						      check(right);
					      });
	};
	const auto missed = run(true), found = run(false);
	const std::string note = "NOTE: atomics only: plain variables are "
				 "looked at by klock::model_plain\n";

	CHECK(missed.atomics_only);
	CHECK(missed.notes == note);
	CHECK(missed.timeline == note);
	CHECK(model::text(missed) ==
	      note + "ok (atomics only), exhaustive, 2 executions\n");
	CHECK(model::text(found) == found.timeline);
	CHECK_FALSE(verdict::has(found.timeline, "NOTE"));
}

TEST_CASE("std_atomic: one CPU finds the values of C++")
{
	for (auto *body : {arithmetic, other_types, references, names_of_c}) {
		const model::result r = alone(body);
		verdict::right_by(1, r);
	}
}

TEST_CASE("std_atomic: outside a run it is atomic, and the library works")
{
	std::atomic<int> sum{0};
	std::atomic<std::shared_ptr<int>> shared{std::make_shared<int>(2)};
	std::latch all(2);
	std::stop_source stops;

	const auto adds = [&] {
		for (int i = 0; i < 1000; i++)
			sum++;
		all.count_down();
	};
	std::thread one(adds), other(adds);
	all.wait();
	one.join();
	other.join();
	CHECK(sum == 2000);
	CHECK(*shared.load() == 2);
	CHECK(std::async(std::launch::async, [] { return 3; }).get() == 3);
	CHECK(stops.request_stop());
	CHECK(at_compile_time.exchange(3) == 3);
	values w;
	arithmetic(w);
}

/* The line of the call, also of operators, which have no argument for it. */
TEST_CASE("std_atomic: a swap that fails is met as the load that it is then")
{
	struct two {
		std::atomic<int> flag{0}, data{0};
	};
	const auto r = model::explore_threads<two>(
		{.record_uses = true}, [](two &) {},
		[](two &t) {
			t.flag.store(2, std::memory_order_release);
			t.data.store(1, std::memory_order_relaxed);
			t.flag.store(1, std::memory_order_release);
		},
		[](two &t) {
			int is = 2;

			if (!t.flag.compare_exchange_strong(
				    is, 3, std::memory_order_acquire,
				    std::memory_order_acquire))
				(void)t.data.load(std::memory_order_relaxed);
		});

	INFO(model::text_of_unmet(r));
	verdict::right(r);
	for (const model::use &u : r.uses)
		CHECK(u.acquires == (u.what == model::operation::load &&
				     u.written == klock::order::acquire));
}

TEST_CASE("std_atomic: a timeline has the lines of its user")
{
	struct world {
		std::atomic<int> x{0};
		model::var<int> v = 0;
	};
	unsigned line = __LINE__ + 2;
	const auto body = [](world &w, unsigned) {
		w.x = 1;
		int seen = w.x;
		seen = w.x++;
		w.x += seen;
		w.v = 4;
		seen = w.v;
		seen = 2 - seen;
		check(seen > 0, "fails");
	};
	const auto r = model::explore<world>({.sections = {1}}, body);
	std::string::size_type at = 0;

	INFO(r.timeline);
	CHECK(r.found == model::bug::failed_check);
	for (const char *row :
	     {"store x = 1 ", "load x 1 ", "fetch_add x 1 -> 2 ",
	      "fetch_add x 2 -> 3 ", "write v 4", "read v 4"}) {
		at = r.timeline.find(row, at);
		REQUIRE(at != std::string::npos);
		const auto end = r.timeline.find('\n', at);
		const std::string rest = r.timeline.substr(at, end - at);
		INFO(rest);
		CHECK(rest.find("test_std_atomic.cpp:" +
				std::to_string(line)) != std::string::npos);
		line++;
	}
}

TEST_CASE("std_atomic: an order that an operation cannot have is a finding")
{
	struct world {
		std::atomic<int> x{0};
	};
	const auto found = [](auto body) {
		return model::explore<world>(
			       {.sections = {1}},
			       [body](world &w, unsigned) { body(w.x); })
			.message;
	};
	int v = 0;

	CHECK(found([](auto &x) { (void)x.load(release); }) ==
	      "failed: a load of an order with release");
	CHECK(found([](auto &x) { x.store(1, acquire); }) ==
	      "failed: a store of an order with acquire");
	CHECK(found([&v](auto &x) {
		      (void)x.compare_exchange_weak(v, 1, acq_rel, release);
	      }) == "failed: compare_exchange: what fails stores nothing, its "
		    "order cannot be release");
	CHECK(model::explore<world>(
		      {.sections = {1}, .any_failure_order = true},
		      [&v](world &w, unsigned) {
			      (void)w.x.compare_exchange_strong(v, 1, acq_rel,
								release);
		      })
		      .ok());
	CHECK(found([](auto &x) { x.wait(1, acq_rel); }) ==
	      "failed: a wait of an order with release");
	CHECK(found([](auto &x) { (void)x.load(consume); }).empty());
}

} // namespace of_std_atomic

namespace of_std_litmus {

/*
 * Small programs on std::atomic: how many executions each has, and whether the
 * outcome that it is known for is among them. The counts are worked out by
 * hand: of store buffering (SB) and message passing (MP) there are four
 * outcomes, and three where the odd one is ruled out.
 */

namespace {

using enum std::memory_order;

struct memory {
	std::atomic<int> x{0}, y{0};
	std::atomic<int *> p{nullptr};
	std::atomic<double> d{0};
	std::atomic_flag f{};
	struct halves {
		short low, high;
	};
	std::atomic<halves> h{};
	int raw = 0, other = 0, data = 7;

	/* The values that thread 0 and thread 1 read. */
	int r0 = 9, r1 = 9, s1 = 9;
};

using thread = void (*)(memory &);

struct known {
	const char *name;
	std::vector<thread> threads;
	unsigned executions;
	/* The outcome it is known for, and whether it is there. */
	bool (*odd)(const memory &);
	bool seen;
};

/* Neither of SB's sides has seen the other; MP's reader has the flag alone. */
bool both_old(const memory &m) { return m.r0 == 0 && m.r1 == 0; }
bool data_old(const memory &m) { return m.r1 == 1 && m.s1 == 0; }

/* -- SB ---------------------------------------------------------------------
 */

template <typename Left, typename Right>
known sb(const char *name, Left l, Right r, bool seen)
{
	return {name, {l, r}, seen ? 4U : 3U, both_old, seen};
}

#define SIDE(does) +[](memory &m) { does; }

const known buffering[] = {
	sb("SB: what has no order is seq_cst",
	   SIDE(m.x.store(1); m.r0 = m.y.load()),
	   SIDE(m.y.store(1); m.r1 = m.x.load()), false),
	sb("SB: so are operators", SIDE(m.x = 1; m.r0 = m.y),
	   SIDE(m.y = 1; m.r1 = m.x), false),
	sb("SB: and ++", SIDE(++m.x; m.r0 = m.y), SIDE(m.y += 1; m.r1 = m.x),
	   false),
	sb("SB: an RMW that is acq_rel",
	   SIDE(m.x.fetch_add(1, acq_rel); m.r0 = m.y.load(acquire)),
	   SIDE(m.y.fetch_xor(1, acq_rel); m.r1 = m.x.load(acquire)), true),
	sb("SB: one access is not seq_cst",
	   SIDE(m.x.store(1); m.r0 = m.y.load(acquire)),
	   SIDE(m.y.store(1); m.r1 = m.x.load()), true),
	sb("SB: fences",
	   SIDE(m.x.store(1, relaxed); std::atomic_thread_fence(seq_cst);
		m.r0 = m.y.load(relaxed)),
	   SIDE(m.y.store(1, relaxed); std::atomic_thread_fence(seq_cst);
		m.r1 = m.x.load(relaxed)),
	   false),
	sb("SB: fences that are acq_rel",
	   SIDE(m.x.store(1, relaxed); std::atomic_thread_fence(acq_rel);
		m.r0 = m.y.load(relaxed)),
	   SIDE(m.y.store(1, relaxed); std::atomic_thread_fence(acq_rel);
		m.r1 = m.x.load(relaxed)),
	   true),
	sb("SB: fences for signals alone",
	   SIDE(m.x.store(1, relaxed); std::atomic_signal_fence(seq_cst);
		m.r0 = m.y.load(relaxed)),
	   SIDE(m.y.store(1, relaxed); std::atomic_signal_fence(seq_cst);
		m.r1 = m.x.load(relaxed)),
	   true),
	sb("SB: references",
	   SIDE(std::atomic_ref(m.raw) = 1; m.r0 = std::atomic_ref(m.other)),
	   SIDE(std::atomic_ref(m.other) = 1; m.r1 = std::atomic_ref(m.raw)),
	   false),
	sb("SB: failed swaps are seq_cst",
	   SIDE(m.x = 1; m.r0 = 5;
		m.y.compare_exchange_strong(m.r0, 6, acq_rel, seq_cst)),
	   SIDE(m.y = 1; m.r1 = 5;
		m.x.compare_exchange_strong(m.r1, 6, acq_rel, seq_cst)),
	   false),
	sb("SB: failed swaps, of which success would be seq_cst",
	   SIDE(m.x = 1; m.r0 = 5;
		m.y.compare_exchange_strong(m.r0, 6, seq_cst, relaxed)),
	   SIDE(m.y = 1; m.r1 = 5;
		m.x.compare_exchange_strong(m.r1, 6, seq_cst, relaxed)),
	   true),
};

/* -- MP ---------------------------------------------------------------------
 */

template <typename Writer, typename Reader>
known mp(const char *name, Writer w, Reader r, bool seen)
{
	return {name, {w, r}, seen ? 4U : 3U, data_old, seen};
}

#define PUBLISHES(how) SIDE(m.x.store(1, relaxed); how)
#define TAKES(how) SIDE(how; m.s1 = m.x.load(relaxed))

const known passing[] = {
	mp("MP: consume is acquire", PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = m.y.load(consume)), false),
	mp("MP: a flag", PUBLISHES(m.f.test_and_set(release)),
	   TAKES(m.r1 = m.f.test(acquire)), false),
	mp("MP: a flag, relaxed", PUBLISHES(m.f.test_and_set(release)),
	   TAKES(m.r1 = m.f.test(relaxed)), true),
	mp("MP: references",
	   PUBLISHES(std::atomic_ref(m.raw).store(1, release)),
	   TAKES(m.r1 = std::atomic_ref(m.raw).load(acquire)), false),
	mp("MP: references, relaxed",
	   PUBLISHES(std::atomic_ref(m.raw).store(1, relaxed)),
	   TAKES(m.r1 = std::atomic_ref(m.raw).load(acquire)), true),
	mp("MP: RMWs", PUBLISHES(m.y.exchange(1, release)),
	   TAKES(m.r1 = m.y.fetch_or(0, acquire)), false),
	mp("MP: RMWs, relaxed", PUBLISHES(m.y.exchange(1, release)),
	   TAKES(m.r1 = m.y.fetch_and(1, relaxed)), true),
	mp("MP: a swap fails with acquire", PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5;
		 m.y.compare_exchange_strong(m.r1, 6, relaxed, acquire)),
	   false),
	mp("MP: a swap fails relaxed, with success acquire",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5;
		 m.y.compare_exchange_strong(m.r1, 6, acquire, relaxed)),
	   true),
	mp("MP: a swap succeeds with acquire", PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 1;
		 m.y.compare_exchange_strong(m.r1, 6, acquire, relaxed)),
	   false),
	mp("MP: a swap succeeds relaxed, with failure acquire",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 1;
		 m.y.compare_exchange_strong(m.r1, 6, relaxed, acquire)),
	   true),
	mp("MP: failure is success less the store",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5; m.y.compare_exchange_weak(m.r1, 6, acq_rel)), false),
	mp("MP: failure of release is relaxed",
	   PUBLISHES(m.y.store(1, release)),
	   TAKES(m.r1 = 5; m.y.compare_exchange_weak(m.r1, 6, release)), true),
	mp("MP: a swap publishes",
	   PUBLISHES(int v = 0;
		     m.y.compare_exchange_strong(v, 1, release, relaxed)),
	   TAKES(m.r1 = m.y.load(acquire)), false),
};

/* -- Others ------------------------------------------------------------------
 */

void adds_half(memory &m)
{
	memory::halves was = m.h.load(relaxed), now;

	do {
		now = {static_cast<short>(was.low + 1), was.high};
	} while (!m.h.compare_exchange_weak(was, now, relaxed));
}

const known others[] = {
	{"three RMWs of three kinds: in each order",
	 {SIDE(m.x.fetch_add(1)), SIDE(m.x.fetch_xor(6)),
	  SIDE(m.x.exchange(3))},
	 6,
	 [](const memory &m) { return m.x.load() == 0; },
	 false},
	/* The first swap has read 0; the other CPU's load reads 0 or 1. */
	{"floating point is added by swaps",
	 {SIDE(m.d += 1), SIDE(m.d.fetch_add(1, relaxed))},
	 4,
	 [](const memory &m) { return m.d != 2.0; },
	 false},
	{"a struct is swapped whole",
	 {adds_half, adds_half},
	 4,
	 [](const memory &m) { return m.h.load().low != 2; },
	 false},
	{"a flag has one winner",
	 {SIDE(m.r0 = m.f.test_and_set()), SIDE(m.r1 = m.f.test_and_set())},
	 2,
	 [](const memory &m) { return m.r0 == m.r1; },
	 false},
	{"a pointer that was published",
	 {SIDE(std::atomic_ref(m.data).store(1, relaxed);
	       m.p.store(&m.data, release)),
	  SIDE(if (int *p = m.p.load(acquire)) m.r1 =
		       std::atomic_ref(*p).load(relaxed))},
	 2,
	 [](const memory &m) { return m.r1 == 7; },
	 false},
	{"a pointer that was published relaxed",
	 {SIDE(std::atomic_ref(m.data).store(1, relaxed);
	       m.p.store(&m.data, relaxed)),
	  SIDE(if (int *p = m.p.load(acquire)) m.r1 =
		       std::atomic_ref(*p).load(relaxed))},
	 3,
	 [](const memory &m) { return m.r1 == 7; },
	 true},
};

void agree(const known &k)
{
	bool seen = false;
	const model::result r = model::explore<memory>(
		{.sections = std::vector<unsigned>(k.threads.size(), 1),
		 .spurious = 0},
		[&k](memory &m, unsigned cpu) { k.threads[cpu](m); },
		[&](memory &m) { seen |= k.odd(m); });

	INFO(k.name << "\n" << r.timeline);
	verdict::right_by(k.executions, r);
	CHECK(seen == k.seen);
}

} // namespace

TEST_CASE("std_litmus: store buffering")
{
	for (const known &k : buffering)
		agree(k);
}

TEST_CASE("std_litmus: message passing")
{
	for (const known &k : passing)
		agree(k);
}

TEST_CASE("std_litmus: RMWs, pointers, waits")
{
	for (const known &k : others)
		agree(k);
}

} // namespace of_std_litmus

namespace of_std_waits {

/*
 * Features of executions that one memory does not have: weak failures,
 * sleepers, choices, assumptions; and the heap.
 */

using enum std::memory_order;
using model::check;

TEST_CASE("std_atomic: weak may fail, so often as options.spurious says")
{
	struct world {
		std::atomic<int> x{0};
		int failures = 0;
	};
	const auto run = [](unsigned spurious, unsigned tries) {
		return model::explore<world>(
			{.sections = {1},
			 .spurious = spurious,
			 .every_turn = true},
			[tries](world &w, unsigned) {
				for (unsigned i = 0; i < tries; i++) {
					int v = 0;
					if (w.x.compare_exchange_weak(v, 1))
						return;
					check(v == 0, "what is there");
				}
				check(false, "never swapped");
			});
	};

	CHECK(model::options{}.spurious == 1);
	CHECK(run(0, 1).ok());
	CHECK(run(0, 1).complete == 1);
	CHECK(run(1, 1).found == model::bug::failed_check);
	CHECK(run(1, 2).ok());
	CHECK(run(1, 2).complete == 2);
	CHECK(run(2, 2).found == model::bug::failed_check);
	CHECK(run(3, 4).complete == 4);
}

TEST_CASE("std_atomic: who sleeps has to be told")
{
	struct world {
		std::atomic<int> x{0};
		int data = 0;
	};
	const auto run = [](bool tells, bool last) {
		return model::explore<world>(
			{.sections = {1, 1}}, [=](world &w, unsigned cpu) {
				if (cpu == 0) {
					w.x.wait(0, acquire);
					return;
				}
				if (tells && !last)
					w.x.notify_all();
				w.x.store(1, release);
				if (tells && last)
					w.x.notify_all();
			});
	};

	CHECK(run(false, false).found == model::bug::deadlock);
	CHECK(run(true, false).found == model::bug::deadlock);
	const auto told = run(true, true);
	verdict::good(told);
}

TEST_CASE("std_atomic: sleeping orders no more than the wait's own order")
{
	struct world {
		std::atomic<int> x{0};
		model::var<int> data = 0;
	};
	const auto run = [](std::memory_order o) {
		return model::explore<world>({.sections = {1, 1}},
					     [=](world &w, unsigned cpu) {
						     if (cpu == 0) {
							     w.x.wait(0, o);
							     w.data = 2;
							     return;
						     }
						     w.data = 1;
						     w.x.store(1, release);
						     w.x.notify_one();
					     });
	};

	CHECK(run(relaxed).found == model::bug::data_race);
	CHECK(run(acquire).ok());
}

TEST_CASE("choose: each of its values, in executions of their own")
{
	struct world {
		std::atomic<unsigned> x{0};
	};
	unsigned seen = 0;
	const auto r = model::explore<world>(
		{.sections = {1, 1}},
		[](world &w, unsigned cpu) {
			if (cpu == 0)
				w.x = model::choose(5);
			else if (model::maybe())
				(void)w.x.load();
		},
		[&seen](world &w) { seen |= 1U << w.x.load(); });

	CHECK(r.exhaustive);
	CHECK(r.complete == 5 * (2 + 1));
	CHECK(seen == 31);
	CHECK(model::choose(3) == 0);
}

TEST_CASE("assume: other executions are none, and no deadlock")
{
	struct world {
		std::atomic<unsigned> x{0};
	};
	const auto r = model::explore<world>(
		{.sections = {1, 1}}, [](world &w, unsigned cpu) {
			if (cpu == 0) {
				model::assume(w.x == 2);
				check(w.x == 2, "holds");
			} else {
				w.x = 1;
				w.x = 2;
			}
		});

	verdict::right_by(1, r);
	CHECK(r.blocked > 0);
}

/* A name of its own: what it allocates in, its address is the same again. */
TEST_CASE("heap: bodies have their own, which ends with the execution")
{
	struct box {
		std::atomic<int> v{0};
	};
	struct world {
		std::atomic<box *> shared{new box};
		std::unique_ptr<box> mine = std::make_unique<box>();
		box *last = nullptr;
	};
	const auto run = [](auto body) {
		return model::explore<world>({.sections = {1, 1}}, body);
	};
	const auto swaps = run([](world &w, unsigned cpu) {
		box *const b = new box;
		b->v = static_cast<int>(cpu) + 1;
		box *const was = w.shared.exchange(b);
		check(was->v < 3, "one of the three");
		delete was;
	});
	verdict::right_by(2, swaps);

	const auto used = run([](world &w, unsigned cpu) {
		box *const b = w.shared.load();
		if (cpu == 0)
			delete b;
		else
			(void)b->v.load();
	});
	verdict::found(model::bug::dead_object, used);
	CHECK(verdict::has(used.timeline, "made.0"));

	const auto twice = run([](world &w, unsigned cpu) {
		if (cpu == 0) {
			/*
			 * Raw memory, so no destructor's double run is found
			 * first.
			 */
			w.last = static_cast<box *>(::operator new(8));
			::operator delete(w.last);
			::operator delete(w.last);
		}
	});
	INFO(twice.timeline);
	CHECK(twice.message.starts_with("failed: memory is freed twice: "));

	/* No expression of new, which a compiler may leave out. */
	const auto large = run([](world &, unsigned) {
		::operator delete(::operator new(2000000));
	});
	CHECK(large.message == "failed: a CPU's operator new has 1 MiB in one "
			       "execution");
}

TEST_CASE("explore: names for code that is no lock, a function for each CPU")
{
	struct mail {
		std::atomic<bool> full{false};
		model::var<int> letter = 0;
		int read = 0;
	};
	const auto run = [](std::memory_order puts, model::options how) {
		return model::explore_threads<mail>(
			how, [](mail &m) { check(m.read == 7 || !m.read); },
			[=](mail &m) {
				m.letter = 7;
				m.full.store(true, puts);
			},
			[](mail &m) {
				if (m.full.load(acquire))
					m.read = m.letter;
			});
	};

	CHECK(run(release, {}).ok());
	CHECK(run(release, {}).complete == 2);
	CHECK(run(relaxed, {}).found == model::bug::data_race);
	/* One CPU alone. */
	CHECK(run(release, {.runs = {1}}).complete == 1);
	CHECK(model::explore<mail>({.runs = {1, 1}}, [](mail &m, unsigned) {
		      m.letter = 1;
	      }).found == model::bug::data_race);
}

TEST_CASE("bounds: what is near is found, and it is said what is left out")
{
	struct lock {
		std::atomic<bool> taken{false};
		model::var<int> data = 0;
	};
	struct buffering {
		std::atomic<int> x{0}, y{0};
		int r0 = 0, r1 = 0;
	};
	const auto two_steps = [](unsigned preemptions, unsigned reorder) {
		return model::explore<lock>({.runs = {1, 1},
					     .preemptions = preemptions,
					     .max_reorder = reorder},
					    [](lock &l, unsigned) {
						    if (l.taken.load())
							    return;
						    l.taken = true;
						    l.data = 1;
						    l.taken = false;
					    });
	};
	const auto sb = [](unsigned preemptions, unsigned reorder) {
		return model::explore_threads<buffering>(
			{.preemptions = preemptions, .max_reorder = reorder},
			[](buffering &b) { check(b.r0 || b.r1); },
			[](buffering &b) {
				b.x.store(1, relaxed);
				b.r0 = b.y.load(relaxed);
			},
			[](buffering &b) {
				b.y.store(1, relaxed);
				b.r1 = b.x.load(relaxed);
			});
	};

	for (const model::result &r :
	     {two_steps(0, 0), sb(0, 0), sb(model::unbounded, 0)}) {
		CHECK(r.ok());
		CHECK(r.left_out > 0);
		CHECK_FALSE(r.exhaustive);
		CHECK(r.timeline.find("NOT EXHAUSTIVE: preemptions") == 0);
	}
	CHECK(sb(0, 0).complete == 1);
	CHECK(two_steps(0, 1).found == model::bug::data_race);
	CHECK(sb(0, 1).found == model::bug::failed_check);
	CHECK(sb(1, 0).complete == 2);
}

TEST_CASE("bounds: nothing left out is exhaustive")
{
	struct count {
		std::atomic<int> x{0};
	};
	const auto r = model::explore<count>(
		{.runs = {1, 1, 1}, .preemptions = 3, .max_reorder = 3},
		[](count &c, unsigned) { c.x++; });

	CHECK(r.exhaustive);
	CHECK(r.left_out == 0);
	CHECK(r.complete == 6);
}

} // namespace of_std_waits

namespace of_examples {

/*
 * examples.hpp: every planted mistake is found, every mended twin is right, and
 * all of it was looked at.
 */

namespace {

using enum std::memory_order;

template <typename World>
model::result explore(std::vector<unsigned> cpus, unsigned interrupts = 0)
{
	return model::explore<World>(
		{.sections = cpus, .interrupts = interrupts},
		[](World &w, unsigned which) { w.cpu(which); },
		[](World &w) { model::check(w.holds(), "holds"); },
		[](World &w, unsigned) {
			if constexpr (requires { w.handler(); })
				w.handler();
		});
}

struct example {
	const char *what;
	model::bug found;
	std::vector<unsigned> cpus;
	model::u64 least; /* executions, mended */
	unsigned interrupts;
	model::result (*busted)(std::vector<unsigned>, unsigned);
	model::result (*mended)(std::vector<unsigned>, unsigned);
};

template <typename Busted, typename Mended>
example of(const char *what, model::bug found, std::vector<unsigned> cpus,
	   model::u64 least, unsigned interrupts = 0)
{
	return {what,	    found,	     cpus,	     least,
		interrupts, explore<Busted>, explore<Mended>};
}

using enum model::bug;
const example all[] = {
	of<reader_unlock<relaxed>, reader_unlock<release>>(
		"a reader's unlock that publishes nothing", data_race,
		{1, 1, 1}, 10),
	of<sequence<false>, sequence<true>>("a seqlock without a fence",
					    failed_check, {1, 1}, 5),
	of<double_checked<relaxed>, double_checked<acquire>>(
		"a once, checked twice", data_race, {1, 1, 1}, 10),
	of<lost_wakeup<acq_rel>, lost_wakeup<seq_cst>>(
		"a wake-up lost by a fence too weak", deadlock, {1, 1}, 3),
	of<hazard<acq_rel>, hazard<seq_cst>>(
		"a hazard pointer without a full fence", dead_object, {1, 1},
		3),
	of<mailbox<false>, mailbox<true>>(
		"a mailbox that is emptied before it is unmarked", deadlock,
		{1, 1, 1}, 10),
	of<put<relaxed>, put<acq_rel>>(
		"a reference count that goes down relaxed", data_race, {1, 1},
		2),
	of<ring_index<relaxed>, ring_index<release>>(
		"a ring's index that comes before its slot", data_race, {1, 1},
		10),
	of<handler_waits<false>, handler_waits<true>>(
		"a handler that waits for the CPU that it interrupts", deadlock,
		{1}, 2, 1),
	of<two_steps<false>, two_steps<true>>("a try_lock of two steps",
					      data_race, {1, 1}, 3),
};

} // namespace

TEST_CASE("examples: each mistake is found, and mended it is right")
{
	for (const example &e : all) {
		const model::result wrong = e.busted(e.cpus, e.interrupts);
		const model::result right = e.mended(e.cpus, e.interrupts);

		INFO(e.what << "\nbusted:\n"
			    << wrong.timeline << "mended:\n"
			    << right.timeline);
		CHECK(wrong.found == e.found);
		verdict::right_by_at_least(e.least, right);
	}
}

/* Its compiler tells of no calls: the stack does. */
TEST_CASE("std: a mutex's line is its user's, not the library's")
{
	struct world {
		std::mutex one, other;
	};
	const model::result r = model::explore<world>(
		{.runs = {1, 1}}, [](world &w, unsigned cpu) {
			const std::lock_guard held(cpu ? w.other : w.one);
			w.one.lock();
		});

	verdict::found(model::bug::deadlock, r, "deadlock: cpu0 waits for one");
	CHECK(verdict::times(r.message, {" at test_std_atomic.cpp:"}) > 0);
	CHECK_FALSE(verdict::has(r.timeline, "gthr"));
}

} // namespace of_examples
