/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(sizeof(KLOCK_FLAG_WORD) == sizeof(klock::flag_word),
	      "klock/sleep.h: another word of flags than the port's");

KLOCK_SLEEPING(KLOCK_C_KIND, )
