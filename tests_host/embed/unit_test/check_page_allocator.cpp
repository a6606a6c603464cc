/* SPDX-License-Identifier: MIT */
/*
 * The allocator in every execution that two CPUs and an interrupt can have.
 */
#include "page_allocator.hpp"

#include <klock/plain.hpp>
#include <model/model.hpp>

#include <cstdio>

struct world {
	page_allocator<2> pages;
	/* The owner of a page writes it: two owners would race. */
	klock::plain<unsigned> contents[2];
};

static void use_a_page(world &w, unsigned by)
{
	const unsigned page = w.pages.allocate();

	if (page == w.pages.none)
		return;
	w.contents[page].set(by);
	w.pages.release(page);
}

int main()
{
	const model::result r = model::explore<world>(
		{.sections = {1, 1}, .interrupts = 1},
		[](world &w, unsigned cpu) { use_a_page(w, cpu); },
		[](world &w) {
			model::check(w.pages.free_pages() == 2, "all are free");
		},
		[](world &w, unsigned cpu) { use_a_page(w, 10 + cpu); });

	std::printf("%s", model::text(r).c_str());
	return r.proved() && r.complete >= 10 ? 0 : 1;
}
