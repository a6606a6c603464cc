/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

void klock_inheriting_thread_init(klock_inheriting_thread *thread,
				  unsigned priority)
{
	klock::c::init(thread, priority);
}

void klock_priority_changed(klock_inheriting_thread *thread, unsigned priority)
{
	klock::priority_changed(klock::as_cpp(*thread), priority);
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

	klock::thread_ends(klock::as_cpp(*thread), hands_over, told);
}

KLOCK_INHERITINGS(KLOCK_C_KIND, )
