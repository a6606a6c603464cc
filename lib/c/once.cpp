/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

void klock_once_init(klock_once *once) { klock::c::init(once); }

int klock_once_call(klock_once *once, int (*what)(void *), void *with)
{
	return klock::as_cpp(*once).call([=] { return what(with) != 0; });
}

int klock_once_is_done(const klock_once *once)
{
	return klock::as_cpp(*once).is_done();
}
