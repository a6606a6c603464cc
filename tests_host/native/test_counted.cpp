/* SPDX-License-Identifier: MIT */
/*
 * counted_lock under real threads, while another prints and resets.
 */
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/print_counts.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace klock;

namespace {

constexpr u32 threads = 3, sections = 2000;

/* Each thread's sections, and what looks on meanwhile. */
template <typename L, typename Look>
void contend(L &lock, unsigned &inside, Look look)
{
	std::vector<std::thread> all;
	std::atomic<u32> left = threads;

	for (u32 i = 0; i < threads; i++)
		all.emplace_back([&] {
			for (u32 n = 0; n < sections; n++) {
				guard held(lock);
				inside++;
			}
			left--;
		});
	do
		look();
	while (left > 0);
	for (std::thread &one : all)
		one.join();
}

template <typename L>
void counts_all(L &lock)
{
	unsigned inside = 0;
	u64 before = 0;

	lock.list_counts();
	contend(lock, inside, [&] {
		for_each_count([&](const count_view &one) {
			CHECK(one.acquired >= before);
			CHECK(one.acquired <= threads * sections);
			CHECK(one.waited >= one.longest_wait);
			before = one.acquired;
		});
	});
	CHECK(inside == threads * sections);
	for_each_count([&](const count_view &one) {
		CHECK(one.acquired == threads * sections);
	});
	lock.forget_counts();
}

} // namespace

TEST_CASE("counted_lock: threads are counted, whoever looks meanwhile")
{
	counted_lock<hold_times<ticket_lock<u8>>, "queue"> lock;

	counts_all(lock);
}

TEST_CASE("counted_lock: threads with nodes of their own are counted")
{
	counted_lock<mcs_lock, "queue"> lock;

	counts_all(lock);
}

TEST_CASE("counted_lock: threads, and resets while they count")
{
	counted_lock<ticket_lock<u8>, "queue"> lock;
	unsigned inside = 0;
	u64 most = 0;

	contend(lock, inside, [&] {
		reset_counts();
		print_counts([](const char *) {});
		for_each_count([&](const count_view &one) {
			most = one.acquired > most ? one.acquired : most;
		});
		std::this_thread::yield();
	});
	CHECK(inside == threads * sections);
	CHECK(most <= threads * sections);
	lock.forget_counts();
}
