/* SPDX-License-Identifier: MIT */
#include <klock/order.h>
#include <klock/order_calls.hpp>
#include <klock/print_held.hpp>

void klock_might_wait_at(const char *file, int line)
{
	klock::might_wait({file, line});
}

void klock_declare_before_at(const char *first, const char *second,
			     const char *file, int line)
{
	const klock::declared_order one[] = {klock::before(first, second)};

	klock::declare(one, {file, line});
}

void klock_declare_rank_at(const char *name, unsigned rank, const char *file,
			   int line)
{
	const klock::declared_order one[] = {{name, nullptr, rank}};

	klock::declare(one, {file, line});
}

void klock_print_held(void (*put)(const char *line, void *with), void *with)
{
	klock::print_held([=](const char *line) { put(line, with); });
}
