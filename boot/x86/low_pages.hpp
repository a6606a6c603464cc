/* SPDX-License-Identifier: MIT */
/*
 * low_pages - which pages below 640 KiB are free (private to boot)
 *
 * A CPU starts in one of them (trampoline.S). Under UEFI the firmware may have
 * kept any of them; the loader's memory map says which.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct low_pages {
	static constexpr unsigned count = 160;

	/* One range of the map; the same for ranges that overlap. */
	void add(u64 base, u64 length, bool is_free);

	/*
	 * The page's address: `wanted` if it is free or nobody has said
	 * anything, else the first free one; 0: there is none.
	 */
	usize find(usize wanted) const;

      private:
	bool is_free(unsigned page) const;

	bool known = false;
	u8 inside[count] = {}; /* 1: the whole page is in a free range */
	u8 taken[count] = {};  /* 1: a part of it is in another range */
};

} // namespace boot
