/* SPDX-License-Identifier: MIT */
/*
 * placed - checks that klock's variables lie below the kernel's end
 *
 *	klock::check_placed(end);	extern "C" char end[]; of the script
 *
 * klock's variables lie in sections of their own, .bss.NAME and .data.NAME, as
 * those of -fdata-sections and all inline variables do. A linker script that
 * names only *(.bss) and *(.data) leaves them to the linker. The linker puts
 * them behind the last section, and behind `end`: a page allocator then gives
 * their memory away, and nobody clears it.
 *
 * On RISC-V, small ones may lie in .sbss and .sdata.
 */
#pragma once

#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

namespace detail {

/* One variable for each kind of section. */
inline constinit u8 small_cleared = 0;
inline constinit u8 small_data = 1;
inline constinit u8 large_cleared[32] = {};
inline constinit u8 large_data[32] = {1};

} // namespace detail

/*
 * Panics if a section with klock's variables lies at `end` or above. `end` is
 * the address behind the kernel's variables, or behind those that its start
 * code clears. Called once, by the first CPU, before memory behind `end` is
 * used. In any build; klock_os_panic() is all that it calls.
 */
inline void check_placed(const void *end)
{
	volatile u8 *const all[] = {&detail::small_cleared, &detail::small_data,
				    detail::large_cleared, detail::large_data};

	for (volatile u8 *const one : all) {
		/* Written to, so that -flto does not take them for
		 * constants. */
		*one = *one;
		if (reinterpret_cast<usize>(one) >=
		    reinterpret_cast<usize>(end))
			panic("klock", const_cast<const u8 *>(one), 0,
			      "klock's variables lie behind the kernel's end: "
			      "the linker script must name .bss.* and .data.*, "
			      "on RISC-V .sbss.* and .sdata.*, too");
	}
}

} // namespace klock
