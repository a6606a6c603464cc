/* SPDX-License-Identifier: MIT */
/*
 * script - what is done to a lock, as text
 *
 *	lock !try_lock unlock !is_locked
 *
 * A word is a verb of the lock. With a `!` it returns false, and else true, if
 * it returns anything. `1:lock` is done as CPU 1, `1i:lock` in its interrupt
 * handler, `1n:lock` in an NMI's; without a number as CPU 0, in a thread. A
 * lock that takes a number is given the CPU's. The lock's type is erased: a
 * test is compiled once for all.
 */
#pragma once

#include <klock/os.hpp>
#include <klock/selftest/locks.hpp>

#include "words.hpp"

#include <catch.hpp>

#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace unit {

using namespace klock;

enum class verb {
	lock,
	try_lock,
	unlock,
	lock_shared,
	try_lock_shared,
	unlock_shared,
	lock_upgradable,
	try_lock_upgradable,
	unlock_upgradable,
	upgrade,
	try_upgrade,
	downgrade,
	is_locked,
	is_held_by_me,
};

inline constexpr const char *verb_names[] = {
	"lock",
	"try_lock",
	"unlock",
	"lock_shared",
	"try_lock_shared",
	"unlock_shared",
	"lock_upgradable",
	"try_lock_upgradable",
	"unlock_upgradable",
	"upgrade",
	"try_upgrade",
	"downgrade",
	"is_locked",
	"is_held_by_me",
};

struct script_step {
	std::string text;
	verb does;
	bool returns;
	unsigned cpu;
	context where;
};

using script = std::vector<script_step>;

inline script_step parsed_step(const std::string &text)
{
	script_step step = {text, {}, true, 0, context::thread};
	const usize colon = text.find(':');
	std::string word = text.substr(colon == text.npos ? 0 : colon + 1);

	if (colon != text.npos) {
		usize digits = 0;

		step.cpu = static_cast<unsigned>(std::stoul(text, &digits));
		if (text[digits] == 'i')
			step.where = context::interrupt;
		if (text[digits] == 'n')
			step.where = context::nmi;
	}
	if (word[0] == '!') {
		step.returns = false;
		word.erase(0, 1);
	}
	for (usize i = 0; i < std::size(verb_names); i++)
		if (word == verb_names[i]) {
			step.does = static_cast<verb>(i);
			return step;
		}
	throw std::logic_error(text + ": no verb of a script");
}

inline script parsed(const std::string &text)
{
	script steps;

	for (const std::string &word : words_of(text))
		steps.push_back(parsed_step(word));
	return steps;
}

/* A lock of some type. */
struct scripted_lock {
	virtual ~scripted_lock() = default;
	/* The verb's result, or true. */
	virtual bool does(verb what, unsigned number) = 0;
};

template <typename L>
struct scripted final : scripted_lock {
	explicit scripted(L &of) : it(of) {}

	bool does(verb what, unsigned number) override
	{
		selftest::contender<L> who(number);

		switch (what) {
		case verb::lock:
			return who.lock(it), true;
		case verb::unlock:
			return who.unlock(it), true;
		case verb::is_locked:
			return it.is_locked();
		case verb::try_lock:
			if constexpr (try_lockable<L>)
				return who.try_lock(it);
			break;
		case verb::is_held_by_me:
			if constexpr (requires { it.is_held_by_me(); })
				return it.is_held_by_me();
			break;
		default:
			return shares(what, number);
		}
		throw std::logic_error("the lock has no such verb");
	}

      private:
	bool shares([[maybe_unused]] verb what,
		    [[maybe_unused]] unsigned number)
	{
		if constexpr (shared_lockable<L>) {
			selftest::reader<L> who(number);

			if (what == verb::lock_shared)
				return who.lock(it), true;
			if (what == verb::unlock_shared)
				return who.unlock(it), true;
			if constexpr (try_shared_lockable<L>)
				if (what == verb::try_lock_shared)
					return who.try_lock(it);
		}
		if constexpr (downgradable_lock<L>)
			if (what == verb::downgrade)
				return it.downgrade(), true;
		if constexpr (upgradable_lock<L>)
			return upgrades(what);
		throw std::logic_error("the lock has no such verb");
	}

	bool upgrades(verb what)
	{
		switch (what) {
		case verb::lock_upgradable:
			return it.lock_upgradable(), true;
		case verb::unlock_upgradable:
			return it.unlock_upgradable(), true;
		case verb::upgrade:
			return it.upgrade(), true;
		case verb::try_lock_upgradable:
			return it.try_lock_upgradable();
		case verb::try_upgrade:
			return it.try_upgrade();
		default:
			throw std::logic_error("the lock has no such verb");
		}
	}

	L &it;
};

/* Does one step, on this CPU. */
inline void plays(scripted_lock &lock, const script_step &step)
{
	if (lock.does(step.does, step.cpu) != step.returns)
		FAIL("not so: " << step.text);
}

inline void plays(scripted_lock &lock, const script &steps)
{
	for (const script_step &step : steps)
		plays(lock, step);
}

} // namespace unit
