/* SPDX-License-Identifier: MIT */
/*
 * places - what leads to debugging information: the line that a function
 * returns to, for operators that have no argument to say it by; types
 */
#pragma once

#include <klock/arch/engine.hpp>

namespace model {

namespace detail {

/* Looked up (addr2line) when a timeline or a list of uses wants it. */
klock::arch::site place_of_return(const void *to);

/* Its address leads to the members of T: engine/members.cpp. */
template <typename T>
[[gnu::noinline]] T *pointer_to()
{
	return nullptr;
}

template <typename T>
const void *type_of()
{
	return reinterpret_cast<const void *>(&pointer_to<T>);
}

} // namespace detail

/*
 * The line that the function which inlines this returns to. That function
 * itself must not be inlined.
 */
[[gnu::always_inline]] inline klock::arch::site called_from()
{
	if (!klock::arch::hooked::running)
		return {nullptr, 0};
	return detail::place_of_return(
		__builtin_extract_return_addr(__builtin_return_address(0)));
}

} // namespace model
