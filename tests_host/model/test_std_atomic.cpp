/* SPDX-License-Identifier: MIT */
/*
 * std::atomic under the checker: what each operation does, beside headers of
 * the standard library that have atomics of their own; what a timeline says.
 */
#include <memory>
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <stop_token>
#include <thread>
#include <stdatomic.h>

#include <model/model.hpp>
#include <model/var.hpp>

#include <catch.hpp>

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
	return model::explore<values>({.sections = {1}},
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

TEST_CASE("std_atomic: one CPU finds the values of C++")
{
	for (auto *body : {arithmetic, other_types, references, names_of_c}) {
		const model::result r = alone(body);
		INFO(r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(r.complete == 1);
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
	     {"store world = 1 ", "load world 1 ", "fetch_add world 1 -> 2 ",
	      "fetch_add world 2 -> 3 ", "write world+0x4 4",
	      "read world+0x4 4"}) {
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
	      }) == "failed: a failure of an order with release");
	CHECK(found([](auto &x) { x.wait(1, acq_rel); }) ==
	      "failed: a wait of an order with release");
	CHECK(found([](auto &x) { (void)x.load(consume); }).empty());
}
