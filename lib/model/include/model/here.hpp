/* SPDX-License-Identifier: MIT */
/*
 * here - a function's last parameter: where it is called from
 *
 * Headers that include this undefine it in their last line: again and again.
 */
#define KLOCK_MODEL_HERE                                                       \
	::klock::arch::site s = ::klock::caller_site<::klock::arch::site>()
