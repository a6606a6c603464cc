/* SPDX-License-Identifier: MIT */
/*
 * A kernel's test of its functions about threads, which are not called: of two
 * files one alone may have lib/unparked in front (misuse.py). With OTHER
 * defined, it is the other file.
 */
#include <klock/mutex.hpp>
#include <klock/selftest/parking.hpp>

#include <stdio.h>

void other();

#ifdef OTHER
void other()
{
	static klock::mutex lock;

	lock.lock();
	lock.unlock();
}
#else
static constinit klock::selftest::parking_test test{};

int main()
{
	const auto starts_none = [](void (*)(void *), void *) {};
	const char *const said = test.run({starts_none, [] {}, 1});

	other();
	puts(said ? said : "right");
}

extern "C" {
klock::usize klock_os_thread(void) { return 0; }
klock::u32 klock_os_cpu_id(void) { return 0; }
void klock_os_park(void) {}
bool klock_os_park_until(klock::u64) { return false; }
void klock_os_unpark(klock::usize) {}
void klock_os_unparked(void) {}
void klock_os_panic(const char *, const void *, klock::u32, const char *)
{
	__builtin_trap();
}
}
#endif
