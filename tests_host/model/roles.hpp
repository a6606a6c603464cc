/* SPDX-License-Identifier: MIT */
/*
 * roles - what a CPU of a world does: a letter, whatever the world is of
 *
 * Where a world has several locks, a role is a word: nest(), below.
 */
#pragma once

#include <klock/types.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace worlds {

using klock::u8;

inline constexpr unsigned most_cpus = 9;

enum class as : u8 {
	nobody,
	writer,
	reader,
	upgradable,
	/* of units */
	taker,
	bringer,
	/* of what is done once */
	maker,
	finder
};
enum class way : u8 {
	waits,
	deadline,
	tries,
	in_turn,
	serves,
	asks,
	overwrites,
	/* alternately */
	tries_then_deadline,
	in_turn_then_tries
};
enum class then : u8 {
	nothing,
	downgrades,
	upgrades,
	takes_again,
	tries_again
};

struct role {
	char letter;
	as what;
	way how = way::waits;
	then next = then::nothing;
	/* m, n, f, M: waits for another before; stays until so many are in */
	bool comes_second = false, counts_itself = false;
	u8 stays_for = 0;

	bool changes() const
	{
		return what == as::writer || next == then::upgrades;
	}
	/* How often it writes in a section. */
	unsigned times() const { return next == then::takes_again ? 3 : 1; }
	bool reads() const
	{
		return what == as::reader || what == as::upgradable ||
		       next == then::downgrades;
	}
	bool alternates() const
	{
		return how == way::tries_then_deadline ||
		       how == way::in_turn_then_tries;
	}
	/* Its section may be left out, though it is patient. */
	bool tries() const
	{
		return how == way::tries || how == way::asks || alternates();
	}
};

inline constexpr role roles[] = {
	/* Takes a lock, or its value has one, and writes, */
	{'l', as::writer},		  /* when it has waited for the lock */
	{'L', as::writer, way::deadline}, /* if it gets it until a deadline */
	{'t', as::writer, way::tries},	  /* if a try gets it */
	{'T', as::writer, way::tries_then_deadline}, /* as t, as L, by turns */
	{'q', as::writer, way::in_turn},	     /* without a try before */
	{'Q', as::writer, way::in_turn_then_tries},  /* as q, as t, by turns */
	{'z', as::writer, way::serves},		     /* serves as it waits */
	{'a', as::writer, way::asks}, /* tries, again and again, until later */
	{'k', as::writer},	      /* with a node on its stack */
	{'g', as::writer, way::waits, then::takes_again}, /* takes it twice */
	{'U', as::writer, way::waits, then::tries_again}, /* as l, then as t */
	{'1', as::writer, way::overwrites}, /* makes it 1, whatever it was */
	/* Reads, */
	{'r', as::reader},
	{'R', as::reader, way::deadline},
	{'s', as::reader, way::tries},
	{'i', as::reader}, /* with interrupts on while it reads */
	/* Writes and reads, */
	{'d', as::writer, way::waits, then::downgrades},
	{'v', as::upgradable}, /* reads, and does not upgrade */
	{'x', as::upgradable, way::waits, then::upgrades},
	{'y', as::upgradable, way::tries, then::upgrades}, /* tries both */
	/* Reads beside another: n when m does, and m until n does; */
	{'m', as::reader, way::waits, then::nothing, false, true, 2},
	{'n', as::reader, way::waits, then::nothing, true, true},
	/* both M when f has written, and each until the other does. */
	{'f', as::writer, way::waits, then::nothing, false, true},
	{'M', as::reader, way::waits, then::nothing, true, true, 3},

	/* Waits for a unit and takes it, */
	{'w', as::taker},
	{'W', as::taker, way::deadline}, /* and brings it back, for others */
	{'b', as::bringer},		 /* brings one */
	{'e', as::bringer},		 /* brings enough for everybody */
	{'j', as::nobody},		 /* waits until a thread asks for one */

	/* Something is done once: */
	{'D', as::maker},  /* does it, if nobody has */
	{'A', as::finder}, /* looks at it, if it is done */

	/* Neither takes a lock nor a unit: */
	{'h', as::nobody}, /* asks whether the lock is held: a hint */
	{'u', as::nobody}, /* unparks CPU 0, for nothing */
	{'O', as::nobody}, /* a handler: takes another lock */
	{'|', as::nobody}, /* a handler: waits until CPU 0 has left */
	{'-', as::nobody}, /* does nothing */
};

inline const role &role_of(char letter)
{
	for (const role &r : roles)
		if (r.letter == letter)
			return r;
	throw std::string("no such role: ") + letter;
}

/* Refuses a role that a world does not have. */
inline void only(const char *known, const std::string &letters)
{
	const auto at = letters.find_first_not_of(known);

	if (at != std::string::npos)
		throw std::string("no role of this world: ") + letters[at];
}

/* Whether any of them is such a role. */
template <typename Is>
bool any_of(const std::string &letters, Is is)
{
	return std::any_of(letters.begin(), letters.end(), [is](char c) {
		return std::invoke(is, role_of(c));
	});
}

/*
 * Words, one for each CPU, with blanks between them: a letter is a lock here. A
 * CPU takes them, each inside of the one before, and releases them in reverse;
 * with "=" at the end, as it took them. In capitals, a lock may be refused, and
 * nothing comes inside of it. What is no letter is a step that the world knows.
 */
inline const char *word_of(const char *words, unsigned cpu)
{
	while (cpu)
		cpu -= *words++ == ' ';
	return words;
}
inline std::vector<unsigned> one_section_each(const std::string &words)
{
	const auto blanks = std::count(words.begin(), words.end(), ' ');

	return std::vector<unsigned>(static_cast<unsigned>(blanks) + 1, 1);
}

/* Plays one word. Returns its end, a blank, a semicolon or a zero. */
template <typename Take, typename Release>
const char *nest(const char *word, Take take, Release release)
{
	const auto ends = [](char c) { return std::strchr("=; ", c); };
	const char *end = word;

	while (!ends(*end) && take(*end))
		end++;
	const char *rest = end;
	while (!ends(*rest))
		rest++;
	if (*rest != '=') {
		while (word < end)
			release(*--end);
		return rest;
	}
	while (word < end)
		release(*word++);
	return rest + 1;
}

} // namespace worlds
