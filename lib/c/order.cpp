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

static_assert(sizeof(klock_nested) >= sizeof(klock::detail::sub_rank));
static_assert(alignof(klock_nested) >= alignof(klock::detail::sub_rank));

static klock::detail::sub_rank &sub_rank_of(klock_nested *mine)
{
	return *reinterpret_cast<klock::detail::sub_rank *>(mine);
}

void klock_usage_nest(klock_nested *mine, const klock_usage *usage,
		      unsigned rank)
{
	sub_rank_of(mine).begin(usage, static_cast<klock::u8>(rank));
}

void klock_usage_unnest(klock_nested *mine) { sub_rank_of(mine).end(); }

void klock_print_held(void (*put)(const char *line, void *with), void *with)
{
	klock::print_held([=](const char *line) { put(line, with); });
}
