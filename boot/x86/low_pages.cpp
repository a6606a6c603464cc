/* SPDX-License-Identifier: MIT */
/*
 * low_pages - which pages below 640 KiB are free
 */
#include <boot/x86/low_pages.hpp>

namespace boot {

namespace {

constexpr u64 page_size = 4096;

} // namespace

void low_pages::add(u64 base, u64 length, bool is_free)
{
	const u64 top = length > ~u64{0} - base ? ~u64{0} : base + length;

	known = true;
	for (unsigned page = 0; page < count; page++) {
		const u64 first = page * page_size;
		const u64 end = first + page_size;

		if (is_free && base <= first && end <= top)
			inside[page] = 1;
		if (!is_free && base < end && first < top)
			taken[page] = 1;
	}
}

bool low_pages::is_free(unsigned page) const
{
	return !known || (inside[page] && !taken[page]);
}

/* Never page 0: the BIOS has its data there, whatever the map says. */
usize low_pages::find(usize wanted) const
{
	if (is_free(static_cast<unsigned>(wanted / page_size)))
		return wanted;
	for (unsigned page = 1; page < count; page++) {
		if (is_free(page))
			return page * page_size;
	}
	return 0;
}

} // namespace boot
