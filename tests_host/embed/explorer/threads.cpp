/* SPDX-License-Identifier: MIT */
/*
 * A program, to be executed: four threads count under one lock, and no visit
 * is lost.
 *
 * Compilers: g++, clang++
 * Options:   -std=c++20 -O2 -pthread
 * Prints:    40000 visits
 */
#include "https://example.org/klock-0.4.0/hosted.hpp"

#include <cstdio>
#include <thread>
#include <vector>

int main()
{
	static klock::preemptable_ticket_lock<klock::u8> lock;
	unsigned visits = 0;
	std::vector<std::jthread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			for (int k = 0; k < 10000; k++) {
				klock::guard held(lock);

				visits++;
			}
		});
	threads.clear();
	std::printf("%u visits\n", visits);
}
