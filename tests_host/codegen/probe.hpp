/* SPDX-License-Identifier: MIT */
/*
 * probe - every verb of every lock of a list, each as a function by itself
 *
 * What the scripts of this folder read from object code. Nothing here runs and
 * no lock is named: the functions carry the lock's place in the list in their
 * names, and the list's own names lie in section .klock_names, a line each.
 */
#pragma once

#include <klock/selftest/locks.hpp>

namespace klock::codegen {

using selftest::contender;

/* -- The functions that are measured -- */

template <unsigned Place, typename L>
void probe_lock(L &lock, contender<L> &by)
{
	by.lock(lock);
}

template <unsigned Place, typename L>
void probe_unlock(L &lock, contender<L> &by)
{
	by.unlock(lock);
}

template <unsigned Place, typename L>
bool probe_try_lock(L &lock, contender<L> &by)
{
	return by.try_lock(lock);
}

template <unsigned Place, typename L>
void probe_lock_shared(L &lock, selftest::reader<L> &by)
{
	by.lock(lock);
}

template <unsigned Place, typename L>
void probe_unlock_shared(L &lock, selftest::reader<L> &by)
{
	by.unlock(lock);
}

template <unsigned Place, typename L>
bool probe_try_lock_shared(L &lock, selftest::reader<L> &by)
{
	return by.try_lock(lock);
}

template <unsigned Place, typename L>
bool probe_is_locked(const L &lock)
{
	return lock.is_locked();
}

template <unsigned Place, typename L>
bool probe_is_contended(const L &lock)
{
	return lock.is_contended();
}

/* lock() and unlock() inlined into one function, as their user has them. */
template <unsigned Place, typename L>
void probe_pair(L &lock, contender<L> &by)
{
	by.lock(lock);
	asm volatile("" ::: "memory");
	by.unlock(lock);
}

/* A lock with static storage: needs no code to come to life. */
template <unsigned Place, typename L>
constinit L probe_home;

/* -- All of them, for each lock of a list -- */

/* Makes the compiler emit what pointer points to. */
template <typename T>
inline void keep(T *pointer)
{
	asm volatile("" ::"r"(pointer));
}

template <unsigned Place, typename L>
inline void keep_verbs()
{
	keep(&probe_home<Place, L>);
	keep(&probe_lock<Place, L>);
	keep(&probe_unlock<Place, L>);
	keep(&probe_pair<Place, L>);
	if constexpr (try_lockable<L>)
		keep(&probe_try_lock<Place, L>);
	if constexpr (shared_lockable<L>) {
		keep(&probe_lock_shared<Place, L>);
		keep(&probe_unlock_shared<Place, L>);
	}
	if constexpr (try_shared_lockable<L>)
		keep(&probe_try_lock_shared<Place, L>);
	if constexpr (requires(const L &l) { l.is_locked(); })
		keep(&probe_is_locked<Place, L>);
	if constexpr (requires(const L &l) { l.is_contended(); })
		keep(&probe_is_contended<Place, L>);
}

template <unsigned Place>
inline void keep_all(selftest::list<>)
{
}

template <unsigned Place, typename First, typename... Rest>
inline void keep_all(selftest::list<First, Rest...>)
{
	keep_verbs<Place, typename First::lock>();
	keep_all<Place + 1>(selftest::list<Rest...>{});
}

/* -- The names -- */

template <usize Size>
struct name_lines {
	char chars[Size];
};

constexpr usize length_of(const char *text)
{
	usize n = 0;

	while (text[n])
		n++;
	return n;
}

template <typename... Subjects>
consteval auto names_of(selftest::list<Subjects...>)
{
	name_lines<((length_of(Subjects::name) + 1) + ...)> lines{};
	usize end = 0;
	auto add = [&](const char *name) {
		for (usize i = 0; name[i]; i++)
			lines.chars[end++] = name[i];
		lines.chars[end++] = '\n';
	};

	(add(Subjects::name), ...);
	return lines;
}

} // namespace klock::codegen
