/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/order.h>
#include <klock/order_calls.hpp>
#include <klock/print_held.hpp>

using klock::as_cpp;

void klock_usage_set_name(klock_usage *usage, const char *name)
{
	as_cpp(*usage).set_name(name);
}

void klock_usage_set_element(klock_usage *usage, const char *name,
			     unsigned index)
{
	as_cpp(*usage).set_name(name, index);
}

int klock_usage_is_held_by_me(const klock_usage *usage)
{
	return as_cpp(*usage).is_held_by_me();
}

void klock_usage_assert_held(const klock_usage *usage, const char *file,
			     int line)
{
	as_cpp(*usage).assert_held({file, line});
}

int klock_order_is_checked(void) { return klock::order_is_checked(); }

void klock_set_checks(int on) { klock::set_checks(on != 0); }

void klock_might_wait_at(const char *file, int line)
{
	klock::might_wait({file, line});
}

void klock_might_switch_at(const char *file, int line)
{
	klock::might_switch({file, line});
}

void klock_thread_ends_at(const char *file, int line)
{
	klock::thread_ends({file, line});
}

void klock_usage_handed_over(klock_usage *usage, const char *file, int line)
{
	klock::take_over(as_cpp(*usage), {file, line});
	if (klock::order_keeper *const order = klock::kernel_order_keeper())
		order->handed_over(usage, {file, line});
}

void klock_usage_might_wait_with(const klock_usage *usage, const char *file,
				 int line)
{
	const klock::lock_usage &used = as_cpp(*usage);

	used.assert_held({file, line});
	klock::check_no_spin(nullptr, "might_wait() with a lock held",
			     {file, line}, &used);
	if (klock::order_keeper *const order = klock::kernel_order_keeper())
		order->might_wait({file, line}, usage);
}

void klock_none_held_in_at(const void *from, unsigned long bytes,
			   const char *file, int line)
{
	klock::none_held_in(from, bytes, {file, line});
}

void klock_acquired_at(const void *lock, const char *name, unsigned sub_rank,
		       const char *file, int line)
{
	klock::acquired(lock, name, sub_rank, {file, line});
}

void klock_released_at(const void *lock, const char *file, int line)
{
	klock::released(lock, {file, line});
}

void klock_declare_harmless(const char *first, const char *second)
{
	const klock::declared_order one[] = {klock::harmless(first, second)};

	klock::declare(one);
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
	sub_rank_of(mine).begin(usage, rank, false);
}

void klock_usage_unnest(klock_nested *mine) { sub_rank_of(mine).end(); }

void klock_usage_set_sub_rank(const klock_usage *usage, unsigned rank)
{
	klock::detail::sub_rank::set(usage, rank);
}

void klock_print_held(void (*put)(const char *line, void *with), void *with)
{
	klock::print_held([=](const char *line) { put(line, with); });
}

unsigned klock_note_long_waits(unsigned kcycles)
{
	return klock::note_long_waits(kcycles);
}

void klock_handler_begin(klock_handler *mine, unsigned char *now, int entered)
{
	klock::order_keeper *const order = klock::kernel_order_keeper();

	*mine = {now, *now, order ? order->places() : 0};
	*now = static_cast<unsigned char>(entered);
}

void klock_handler_end_at(klock_handler *mine, const char *file, int line)
{
	*mine->klock_now = static_cast<unsigned char>(mine->klock_before);
	if (klock::order_keeper *const order = klock::kernel_order_keeper())
		order->check_as_before(mine->klock_places, {file, line});
}

/* C knows it by its address alone. */
static klock_lock_order *as_c(klock::lock_order *order)
{
	return reinterpret_cast<klock_lock_order *>(order);
}

klock_lock_order *klock_lock_order_8(void)
{
	return as_c(klock::lock_order_of<64, 8>());
}

klock_lock_order *klock_lock_order_8_noted(void)
{
	return as_c(klock::lock_order_of<64, 8, klock::on_finding::note>());
}

klock_lock_order *klock_lock_order_64(void)
{
	return as_c(klock::lock_order_of<64, 64>());
}

klock_lock_order *klock_lock_order_64_noted(void)
{
	return as_c(klock::lock_order_of<64, 64, klock::on_finding::note>());
}

klock_lock_order *klock_lock_order_256(void)
{
	return as_c(klock::lock_order_of<128, 256>());
}
