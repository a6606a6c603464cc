/* SPDX-License-Identifier: MIT */
/*
 * asked - which locks of the lists the word lock= asks for
 */
#include "options.hpp"

#include "runner.hpp"
#include "values.hpp"

namespace lab {

bool asks_for(const options &o, const char *name)
{
	bool asked = false;

	/* Every item is looked at: read_options() found the list good. */
	(void)for_each_item(o.lock, [&](const char *item) {
		asked |= boot::same_text(item, "all") ||
			 boot::same_text(item, name);
		return wrong{};
	});
	return asked;
}

unsigned locks_asked_for(const options &o)
{
	unsigned locks = 0;

	klock::selftest::all_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			locks += asks_for(o, Subject::name);
		});
	return locks;
}

unsigned shared_locks_asked_for(const options &o)
{
	unsigned locks = 0;

	klock::selftest::all_shared_locks<most_cpus>::for_each(
		[&]<typename Subject>() {
			locks += asks_for(o, Subject::name);
		});
	return locks;
}

} // namespace lab
