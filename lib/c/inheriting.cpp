/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

/* As functions for C note it: the address behind the call. */
static klock::call_site called_from(const void *address)
{
	return {static_cast<const char *>(address), KLOCK_CODE};
}

void klock_inheriting_thread_init(klock_inheriting_thread *thread,
				  unsigned priority)
{
	klock::c::init(thread, priority);
}

void klock_priority_changed(klock_inheriting_thread *thread, unsigned priority)
{
	klock::priority_changed(klock::as_cpp(*thread), priority,
				called_from(__builtin_return_address(0)));
}

void klock_inheriting_thread_ends(klock_inheriting_thread *thread,
				  int hands_over,
				  void (*holds)(const void *mutex, void *with),
				  void *with)
{
	const auto told = [=](const void *mutex) {
		if (holds)
			holds(mutex, with);
	};

	klock::thread_ends(klock::as_cpp(*thread), hands_over, told,
			   called_from(__builtin_return_address(0)));
}

KLOCK_INHERITINGS(KLOCK_C_KIND, )
