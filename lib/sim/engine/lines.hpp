/* SPDX-License-Identifier: MIT */
/*
 * lines - which cache has which line, and who waits for it
 *
 * A directory: for each line the CPU that owns it (M or E), or those that share
 * it (S), or nobody: then memory has it. One request at a time is served; the
 * others queue in the order in which they came. That is the line's busy time.
 */
#pragma once

#include <sim/machine.hpp>
#include <sim/sim.hpp>

#include <klock/types.hpp>

#include <bit>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace sim {

inline constexpr unsigned nobody = ~0u;
inline constexpr usize line_bytes = 64;

/* A set of CPUs. */
struct cpu_set {
	bool has(unsigned c) const { return words[c / 64] >> c % 64 & 1; }
	void add(unsigned c) { words[c / 64] |= u64{1} << c % 64; }
	void clear() { *this = {}; }

	/* Calls visit(cpu) for each, smallest first. */
	template <typename Visit>
	void for_each(Visit visit) const
	{
		for (unsigned i = 0; i < max_cpus / 64; i++)
			for (u64 w = words[i]; w != 0; w &= w - 1)
				visit(i * 64 + std::countr_zero(w));
	}

      private:
	u64 words[max_cpus / 64] = {};
};

struct line {
	unsigned number;	 /* in the order of first use, from 1 */
	unsigned owner = nobody; /* who has it alone */
	bool written = false;	 /* and has written to it: M, not E */
	cpu_set copies;		 /* who shares it, while nobody owns it */
	unsigned copies_in[max_sockets] = {};

	bool busy = false;			/* a request is being served */
	unsigned first = nobody, last = nobody; /* the queue behind it */
	u64 touched = 0;			/* the last round of counting */

	mesi state(unsigned cpu) const
	{
		if (owner == cpu)
			return written ? mesi::modified : mesi::exclusive;
		return copies.has(cpu) ? mesi::shared : mesi::invalid;
	}
	bool serves(unsigned cpu, bool to_write) const
	{
		return owner == cpu || (!to_write && copies.has(cpu));
	}
	bool is_shared() const
	{
		for (unsigned n : copies_in)
			if (n != 0)
				return true;
		return false;
	}
};

/* All lines that were ever touched, by address. */
struct line_table {
	line &of(const void *at)
	{
		const auto key =
			reinterpret_cast<std::uintptr_t>(at) / line_bytes;

		if (key == last_key)
			return *last_line;
		auto [found, is_new] = by_address.try_emplace(key, nullptr);
		if (is_new) {
			all.emplace_back();
			all.back().number = static_cast<unsigned>(all.size());
			found->second = &all.back();
		}
		last_key = key;
		last_line = found->second;
		return *last_line;
	}

	/* Null: never touched. */
	const line *find(const void *at) const
	{
		const auto found = by_address.find(
			reinterpret_cast<std::uintptr_t>(at) / line_bytes);

		return found == by_address.end() ? nullptr : found->second;
	}

      private:
	std::deque<line> all; /* stays where it is as it grows */
	std::unordered_map<std::uintptr_t, line *> by_address;
	std::uintptr_t last_key = 0;
	line *last_line = nullptr;
};

} // namespace sim
