/* SPDX-License-Identifier: MIT */
/*
 * nearest - the name that was probably meant by one that is not known
 *
 *	nearest meant("ticket_lock");
 *	meant.offer("tas_lock");
 *	meant.offer("ticket_lock<u8>");
 *	meant.name();		"ticket_lock<u8>"
 *
 * The same name; else one that begins with the text; else the one with the
 * fewest mistakes, at most one in three characters. Of equals the first that
 * was offered. Small and capital letters are the same but for the first rule.
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

struct nearest {
	explicit nearest(const char *unknown);

	void offer(const char *name);

	/* Null: none is near. */
	[[nodiscard]] const char *name() const { return best; }

	/* Whether name() is the text itself. */
	[[nodiscard]] bool is_exact() const { return distance == 0; }

	[[nodiscard]] const char *given() const { return text; }

      private:
	const char *text;
	const char *best = nullptr;
	unsigned distance; /* of the best; of none, the first that is far */
};

} // namespace lab
