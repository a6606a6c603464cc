/* SPDX-License-Identifier: MIT */
/*
 * The allocator on the host: what it promises, and threads for CPUs. Interrupts
 * are a flag of the thread, which the test can read.
 */
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include "page_allocator.hpp"

#include <atomic>
#include <thread>
#include <vector>

TEST_CASE("page_allocator: each page once, then none")
{
	page_allocator<3> pages;

	CHECK(pages.allocate() == 0);
	CHECK(pages.allocate() == 1);
	CHECK(pages.allocate() == 2);
	CHECK(pages.allocate() == pages.none);
	pages.release(1);
	CHECK(pages.allocate() == 1);
}

TEST_CASE("page_allocator: interrupts are on again after each call")
{
	page_allocator<1> pages;

	pages.release(pages.allocate());
	CHECK(klock::arch::irqs_enabled());
}

TEST_CASE("page_allocator: no page belongs to two threads")
{
	page_allocator<3> pages;
	std::atomic<int> users[3] = {};
	std::atomic<int> shared = 0;
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < 20000; i++) {
				const unsigned page = pages.allocate();
				if (page == pages.none)
					continue;
				shared += users[page]++ != 0;
				users[page]--;
				pages.release(page);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(shared == 0);
	CHECK(pages.free_pages() == 3);
}
