/* SPDX-License-Identifier: MIT */
#include <fiber/fiber.hpp>

#include <catch.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace {

struct counter {
	int steps = 0;
	double kept = 0;
	const void *local = nullptr;
};

void count(void *of)
{
	auto &c = *static_cast<counter *>(of);
	double x = 1.5;
	int i = 0;

	c.local = &i;
	for (; i < 3; i++) {
		c.steps++;
		fiber::suspend();
		x *= 2;
	}
	c.kept = x;
}

} // namespace

TEST_CASE("fiber: goes on where it was left, with its locals")
{
	fiber f;
	counter c;

	CHECK_FALSE(f.resume());
	f.start(count, &c);
	CHECK(f.resume());
	CHECK(c.steps == 1);
	CHECK(c.local >= f.low());
	CHECK(c.local < f.high());
	CHECK(f.resume());
	CHECK(f.resume());
	CHECK(c.steps == 3);
	CHECK_FALSE(f.resume());
	CHECK(c.kept == 12);
	CHECK_FALSE(f.resume());
}

TEST_CASE("fiber: starts anew from anywhere, at the same addresses")
{
	fiber f;
	counter once, again;

	f.start(count, &once);
	f.resume();
	f.resume();
	f.start(count, &again);
	f.resume();
	CHECK(again.steps == 1);
	CHECK(again.local == once.local);
}

TEST_CASE("fiber: its stack is aligned as the ABI wants it")
{
	fiber f;
	std::uintptr_t at = 1;

	f.start(
		[](void *to) {
			alignas(16) volatile char aligned[16] = {};
			*static_cast<std::uintptr_t *>(to) =
				reinterpret_cast<std::uintptr_t>(aligned);
		},
		&at);
	f.resume();
	CHECK(at % 16 == 0);
}

TEST_CASE("fiber: 1,024 of them take turns")
{
	std::vector<std::unique_ptr<fiber>> all;
	std::vector<counter> counts(1024);

	for (auto &c : counts) {
		all.push_back(std::make_unique<fiber>());
		all.back()->start(count, &c);
	}
	for (int round = 0; round < 4; round++)
		for (auto &f : all)
			f->resume();
	for (auto &c : counts)
		REQUIRE(c.kept == 12);
}
