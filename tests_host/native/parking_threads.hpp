/* SPDX-License-Identifier: MIT */
/*
 * parking_threads - host threads for klock/selftest/parking.hpp
 */
#pragma once

#include <klock/selftest/parking.hpp>

#include <chrono>
#include <thread>

namespace native {

/* Detached: one that is never woken stays until the process ends. */
inline void start_thread(void (*body)(void *), void *of)
{
	std::thread(body, of).detach();
}

/* Longer than a turn: threads that run have made progress by then. */
inline void pause_thread()
{
	std::this_thread::sleep_for(std::chrono::microseconds(100));
}

} // namespace native
