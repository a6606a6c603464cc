/* SPDX-License-Identifier: MIT */
/*
 * members - which member of an object lies at an offset
 *
 * It uses the program's debugging information, which readelf (binutils) prints.
 * readelf runs once, and only if a finding is shown.
 */
#pragma once

#include <klock/types.hpp>

#include <functional>
#include <string>

namespace model {

/* It is never destroyed: the run may go on after an exit() of the code. */
template <typename T>
T &for_ever()
{
	return *new T;
}

/* The position of an address in the file that it was loaded from. */
struct file_place {
	std::string file; /* empty: in none */
	klock::usize at = 0;
};
file_place place_in_file(const void *address);

/* "slot[2].next", and the offset from its first byte; else both as they
 * were. */
struct member {
	std::string path;
	klock::usize rest;
};

/*
 * type: detail::pointer_to<T>, a global variable of the type, or null. Finds
 * the innermost member that the program's author has named; outermost: the
 * first that begins there.
 */
member member_at(const void *type, klock::usize offset, bool outermost);

/*
 * A value of that type with its members, "{tag 97, to &node}"; empty: the type
 * is not known. number() has the words for a number or a pointer of so many
 * bytes.
 */
using words_of = std::function<std::string(klock::u64, unsigned)>;
std::string struct_text(const void *type, klock::u64, const words_of &number);

} // namespace model
