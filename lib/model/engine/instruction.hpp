/* SPDX-License-Identifier: MIT */
/*
 * instruction - the memory that an instruction of x86-64 accesses
 *
 * Those that compilers and inline assembly copy by are known: moves, string
 * instructions, simple arithmetic. So are those that lock, and fences.
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <klock/types.hpp>

namespace model {

using klock::u16;
using klock::u64;
using klock::u8;
using klock::usize;

struct footprint {
	struct one {
		const char *at;
		usize bytes;
		bool writes;
	};

	void add(u64 at, usize bytes, bool writes)
	{
		all[many++] = {reinterpret_cast<const char *>(at), bytes,
			       writes};
	}
	bool has(const char *byte) const
	{
		for (unsigned i = 0; i < many; i++)
			if (byte >= all[i].at &&
			    byte < all[i].at + all[i].bytes)
				return true;
		return false;
	}

	bool is_known() const { return many || is == what::fence; }

	one all[2] = {};
	unsigned many = 0; /* 0: it accesses nothing, or is not known */

	/* An instruction that locks updates the memory, or swaps it if it finds
	 * what it expects, and is a fence. */
	enum class what : u8 { plain, update, swap, fence } is = what::plain;
	klock::arch::hooked::update by{};
	u64 operand = 0, expected = 0;
	klock::order fence{};
};

/* As an instruction numbers them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 */
struct registers {
	u64 of[16];
	u64 flags;
	u64 local; /* the start of the thread's storage: %fs */
};

/* The longest one. */
inline constexpr usize instruction_bytes = 15;

/* Decodes the instruction of these bytes, which lies at that address. */
footprint footprint_of(const u8 *code, u64 at, const registers &);

} // namespace model
