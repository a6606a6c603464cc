/* SPDX-License-Identifier: MIT */
/*
 * here - a function's last parameter: where it is called from
 *
 * It also hides the user's macros that have the names of our template
 * parameters, while our headers are read. Headers that include this do so again
 * in their last line, with KLOCK_MODEL_END defined: that restores the macros.
 */
#ifndef KLOCK_MODEL_END
#define KLOCK_MODEL_HERE                                                       \
	::klock::arch::site s = ::klock::caller_site<::klock::arch::site>()
#pragma push_macro("A")
#undef A
#pragma push_macro("B")
#undef B
#pragma push_macro("H")
#undef H
#pragma push_macro("I")
#undef I
#pragma push_macro("K")
#undef K
#pragma push_macro("L")
#undef L
#pragma push_macro("M")
#undef M
#pragma push_macro("N")
#undef N
#pragma push_macro("O")
#undef O
#pragma push_macro("S")
#undef S
#pragma push_macro("T")
#undef T
#pragma push_macro("U")
#undef U
#pragma push_macro("By")
#undef By
#pragma push_macro("How")
#undef How
#pragma push_macro("Self")
#undef Self
#pragma push_macro("Size")
#undef Size
#pragma push_macro("State")
#undef State
#else
#undef KLOCK_MODEL_END
#undef KLOCK_MODEL_HERE
#pragma pop_macro("A")
#pragma pop_macro("B")
#pragma pop_macro("H")
#pragma pop_macro("I")
#pragma pop_macro("K")
#pragma pop_macro("L")
#pragma pop_macro("M")
#pragma pop_macro("N")
#pragma pop_macro("O")
#pragma pop_macro("S")
#pragma pop_macro("T")
#pragma pop_macro("U")
#pragma pop_macro("By")
#pragma pop_macro("How")
#pragma pop_macro("Self")
#pragma pop_macro("Size")
#pragma pop_macro("State")
#endif
