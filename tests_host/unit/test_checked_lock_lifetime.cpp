/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: an unlock's last access to the lock's memory is the one that
 * releases it. The next holder may free what the lock lies in.
 */
#include <klock/checked_lock.hpp>
#include <klock/ticket_lock.hpp>

#include "pretended_kernel.hpp"

#include <cstring>
#include <functional>
#include <new>
#include <thread>

using namespace klock;

namespace {

std::function<void()> when_released;

/* Releases, and whoever comes next is faster than the rest of unlock(). */
struct lost_at_once {
	static constexpr u64 max_contenders = 8;

	void lock() {}
	[[nodiscard]] bool try_lock() { return true; }
	void unlock() { when_released(); }
};

} // namespace

TEST_CASE("checked_lock: unlock() writes nothing once it is released")
{
	using L = checked_lock<lost_at_once>;
	alignas(L) unsigned char memory[sizeof(L)];
	L &lock = *new (memory) L;

	when_released = [&] { std::memset(memory, 0xdd, sizeof(memory)); };
	lock.lock();
	lock.unlock();
	for (unsigned char byte : memory)
		CHECK(byte == 0xdd);
}

/* ASan says if it reads. */
TEST_CASE("checked_lock: unlock() reads nothing once it is released")
{
	auto *const lock = new checked_lock<lost_at_once>;

	when_released = [&] { delete lock; };
	lock->lock();
	lock->unlock();
}

namespace {

thread_local bool frees = false;
atomic<u32> freed;

/* Whoever is not the last sleeps here until the last has freed the object. */
struct slow_to_return {
	static constexpr u64 max_contenders = 2;

	void lock() { inner.lock(); }
	void unlock()
	{
		const bool waits = !frees;
		const u32 before = freed.load_relaxed();

		inner.unlock();
		if (waits)
			freed.await_acquire(
				[=](u32 now) { return now != before; });
	}

      private:
	ticket_lock<u8> inner;
};

/* An object with its lock inside; the last to leave it frees it. */
struct counted_object {
	checked_lock<slow_to_return, "object"> lock;
	int users = 2;
};

void leave(counted_object *object)
{
	object->lock.lock();
	frees = --object->users == 0;
	object->lock.unlock();
	if (!frees)
		return;
	delete object;
	freed.fetch_add_release(1);
}

} // namespace

TEST_CASE("checked_lock: an object that is freed by whoever leaves it last")
{
	for (u32 round = 1; round <= 20; round++) {
		auto *const object = new counted_object;
		std::thread other([object] {
			current_cpu = 1;
			leave(object);
		});

		leave(object);
		other.join();
		CHECK(freed.load_relaxed() == round);
	}
}
