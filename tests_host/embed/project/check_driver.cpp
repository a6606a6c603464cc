/* SPDX-License-Identifier: MIT */
#include "driver.hpp"

#include <model/model.hpp>

#include <stdio.h>

struct nothing {};

int main()
{
	const model::result r = model::explore<nothing>(
		{.sections = {2, 1}},
		[](nothing &, unsigned) { driver_event(); },
		[](nothing &) { model::check(driver_events() == 3); });

	printf("%s", model::text(r).c_str());
	if (!r.proved() || r.complete < 3)
		return 1;
	printf("no execution of 2 CPUs loses an event\n");
	return 0;
}
