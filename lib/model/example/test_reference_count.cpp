/* SPDX-License-Identifier: MIT */
/* The program that README.md shows: complete, and with no test framework. */
#include "reference_count.hpp"

#include <klock/plain.hpp>
#include <model/model.hpp>

#include <cstdio>

struct world {
	reference_count held;
	klock::plain<unsigned> object{7};
	unsigned ended = 0;

	world()
	{
		held.get(); /* one for each CPU */
		model::name(held, "held");
		model::name(object, "object");
	}
};

int main()
{
	auto r = model::explore<world>(
		{.sections = {1, 1}},
		[](world &w, unsigned) {
			(void)w.object.get(); /* uses it */
			if (w.held.put()) {
				w.object.set(0); /* takes it apart */
				w.ended++;
			}
		},
		[](world &w) {
			model::check(w.ended == 1, "taken apart once");
		});

	std::printf("%s", model::text(r).c_str());
	return r.proved() && r.complete == 2 ? 0 : 1;
}
