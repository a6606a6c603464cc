/* SPDX-License-Identifier: MIT */
/*
 * members - which member of an object lies at an offset
 *
 * By the program's debugging information, which readelf (binutils) prints. It
 * is asked once, and only where a finding is shown.
 */
#pragma once

#include <klock/types.hpp>

#include <string>

namespace model {

/* Is never destroyed: an exit() of the code may come to nothing. */
template <typename T>
T &for_ever()
{
	return *new T;
}

/* Where an address lies in the file that it was loaded from. */
struct file_place {
	std::string file; /* empty: in none */
	klock::usize at = 0;
};
file_place place_in_file(const void *address);

/* "slot[2].next", and how far behind its first byte; else both as asked. */
struct member {
	std::string path;
	klock::usize rest;
};

/*
 * type: detail::pointer_to<T>, a global variable that has it, or null. The
 * innermost member that a program's author has named; outermost: the first that
 * begins there.
 */
member member_at(const void *type, klock::usize offset, bool outermost);

} // namespace model
