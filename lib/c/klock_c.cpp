/* SPDX-License-Identifier: MIT */
/*
 * klock_c - the C functions of klock/klock.h, by the C++ locks
 *
 * A C structure is the C++ lock's memory, so it must look like it: size and
 * alignment are compared here, the members' places in
 * tests_host/embed/c/layout.cpp. may_alias in the header lets C initialise what
 * C++ reads, link-time optimization or not.
 */
#include <klock/klock.h>

#include <klock/clh_lock.hpp>
#include <klock/irq.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>
#include <klock/version.hpp>

namespace {

using namespace klock;

/* The C++ type whose memory a C structure is. */
template <typename C>
struct twin;
template <>
struct twin<klock_ticket_u8> {
	using type = ticket_lock<u8>;
};
template <>
struct twin<klock_ticket_u16> {
	using type = ticket_lock<u16>;
};
template <>
struct twin<klock_ticket_u32> {
	using type = ticket_lock<u32>;
};
template <>
struct twin<klock_tas> {
	using type = tas_lock;
};
template <>
struct twin<klock_ttas> {
	using type = ttas_lock;
};
template <>
struct twin<klock_backoff_ttas> {
	using type = backoff_ttas_lock;
};
template <>
struct twin<klock_mcs> {
	using type = mcs_lock;
};
template <>
struct twin<klock_mcs_node> {
	using type = mcs_node;
};
template <>
struct twin<klock_clh> {
	using type = clh_lock;
};
template <>
struct twin<klock_clh_node> {
	using type = clh_node;
};

template <typename C>
auto &real(C *lock)
{
	using type = typename twin<C>::type;

	static_assert(sizeof(C) == sizeof(type), "klock.h: another size");
	static_assert(alignof(C) == alignof(type), "klock.h: another alignment "
						   "(KLOCK_CACHE_LINE?)");
	return *reinterpret_cast<type *>(lock);
}

template <typename C>
const auto &real(const C *lock)
{
	return real(const_cast<C *>(lock));
}

static_assert(ticket_lock<u8>::max_contenders == KLOCK_TICKET_U8_CONTENDERS);
static_assert(ticket_lock<u16>::max_contenders == KLOCK_TICKET_U16_CONTENDERS);
static_assert(ticket_lock<u32>::max_contenders == KLOCK_TICKET_U32_CONTENDERS);
static_assert(sizeof(unsigned long) >= sizeof(irq_state));

/* "major.minor.patch", out of the numbers. */
struct version_text {
	char text[32] = {};
	unsigned length = 0;

	constexpr version_text()
	{
		put(version_major);
		text[length++] = '.';
		put(version_minor);
		text[length++] = '.';
		put(version_patch);
	}

	constexpr void put(unsigned number)
	{
		if (number >= 10)
			put(number / 10);
		text[length++] = static_cast<char>('0' + number % 10);
	}
};
constexpr version_text version;

template <typename C, typename... Node>
unsigned long lock_irqsave(C *lock, Node *...mine)
{
	const irq_state before = irq_save();

	real(lock).lock(real(mine)...);
	return before;
}

template <typename C, typename... Node>
void unlock_irqrestore(unsigned long before, C *lock, Node *...mine)
{
	real(lock).unlock(real(mine)...);
	irq_restore(static_cast<irq_state>(before));
}

} // namespace

const char *klock_version() { return version.text; }
unsigned long klock_irq_save() { return irq_save(); }
void klock_irq_restore(unsigned long before)
{
	irq_restore(static_cast<irq_state>(before));
}

void klock_ticket_u8_lock(klock_ticket_u8 *lock) { real(lock).lock(); }
int klock_ticket_u8_try_lock(klock_ticket_u8 *lock)
{
	return real(lock).try_lock();
}
void klock_ticket_u8_unlock(klock_ticket_u8 *lock) { real(lock).unlock(); }
int klock_ticket_u8_is_locked(const klock_ticket_u8 *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_ticket_u8_lock_irqsave(klock_ticket_u8 *lock)
{
	return lock_irqsave(lock);
}
void klock_ticket_u8_unlock_irqrestore(klock_ticket_u8 *lock,
				       unsigned long before)
{
	unlock_irqrestore(before, lock);
}

void klock_ticket_u16_lock(klock_ticket_u16 *lock) { real(lock).lock(); }
int klock_ticket_u16_try_lock(klock_ticket_u16 *lock)
{
	return real(lock).try_lock();
}
void klock_ticket_u16_unlock(klock_ticket_u16 *lock) { real(lock).unlock(); }
int klock_ticket_u16_is_locked(const klock_ticket_u16 *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_ticket_u16_lock_irqsave(klock_ticket_u16 *lock)
{
	return lock_irqsave(lock);
}
void klock_ticket_u16_unlock_irqrestore(klock_ticket_u16 *lock,
					unsigned long before)
{
	unlock_irqrestore(before, lock);
}

void klock_ticket_u32_lock(klock_ticket_u32 *lock) { real(lock).lock(); }
int klock_ticket_u32_try_lock(klock_ticket_u32 *lock)
{
	return real(lock).try_lock();
}
void klock_ticket_u32_unlock(klock_ticket_u32 *lock) { real(lock).unlock(); }
int klock_ticket_u32_is_locked(const klock_ticket_u32 *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_ticket_u32_lock_irqsave(klock_ticket_u32 *lock)
{
	return lock_irqsave(lock);
}
void klock_ticket_u32_unlock_irqrestore(klock_ticket_u32 *lock,
					unsigned long before)
{
	unlock_irqrestore(before, lock);
}

void klock_tas_lock(klock_tas *lock) { real(lock).lock(); }
int klock_tas_try_lock(klock_tas *lock) { return real(lock).try_lock(); }
void klock_tas_unlock(klock_tas *lock) { real(lock).unlock(); }
int klock_tas_is_locked(const klock_tas *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_tas_lock_irqsave(klock_tas *lock)
{
	return lock_irqsave(lock);
}
void klock_tas_unlock_irqrestore(klock_tas *lock, unsigned long before)
{
	unlock_irqrestore(before, lock);
}

void klock_ttas_lock(klock_ttas *lock) { real(lock).lock(); }
int klock_ttas_try_lock(klock_ttas *lock) { return real(lock).try_lock(); }
void klock_ttas_unlock(klock_ttas *lock) { real(lock).unlock(); }
int klock_ttas_is_locked(const klock_ttas *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_ttas_lock_irqsave(klock_ttas *lock)
{
	return lock_irqsave(lock);
}
void klock_ttas_unlock_irqrestore(klock_ttas *lock, unsigned long before)
{
	unlock_irqrestore(before, lock);
}

void klock_backoff_ttas_lock(klock_backoff_ttas *lock) { real(lock).lock(); }
int klock_backoff_ttas_try_lock(klock_backoff_ttas *lock)
{
	return real(lock).try_lock();
}
void klock_backoff_ttas_unlock(klock_backoff_ttas *lock)
{
	real(lock).unlock();
}
int klock_backoff_ttas_is_locked(const klock_backoff_ttas *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_backoff_ttas_lock_irqsave(klock_backoff_ttas *lock)
{
	return lock_irqsave(lock);
}
void klock_backoff_ttas_unlock_irqrestore(klock_backoff_ttas *lock,
					  unsigned long before)
{
	unlock_irqrestore(before, lock);
}

void klock_mcs_lock(klock_mcs *lock, klock_mcs_node *mine)
{
	real(lock).lock(real(mine));
}
int klock_mcs_try_lock(klock_mcs *lock, klock_mcs_node *mine)
{
	return real(lock).try_lock(real(mine));
}
void klock_mcs_unlock(klock_mcs *lock, klock_mcs_node *mine)
{
	real(lock).unlock(real(mine));
}
int klock_mcs_is_locked(const klock_mcs *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_mcs_lock_irqsave(klock_mcs *lock, klock_mcs_node *mine)
{
	return lock_irqsave(lock, mine);
}
void klock_mcs_unlock_irqrestore(klock_mcs *lock, klock_mcs_node *mine,
				 unsigned long before)
{
	unlock_irqrestore(before, lock, mine);
}

void klock_clh_lock(klock_clh *lock, klock_clh_node *mine)
{
	real(lock).lock(real(mine));
}
void klock_clh_unlock(klock_clh *lock, klock_clh_node *mine)
{
	real(lock).unlock(real(mine));
}
int klock_clh_is_locked(const klock_clh *lock)
{
	return real(lock).is_locked();
}
unsigned long klock_clh_lock_irqsave(klock_clh *lock, klock_clh_node *mine)
{
	return lock_irqsave(lock, mine);
}
void klock_clh_unlock_irqrestore(klock_clh *lock, klock_clh_node *mine,
				 unsigned long before)
{
	unlock_irqrestore(before, lock, mine);
}

/* As KLOCK_CLH_INIT and KLOCK_CLH_NODE_INIT. */
void klock_clh_init(klock_clh *lock)
{
	lock->klock_tail = &lock->klock_first;
	lock->klock_first.klock_busy = 0;
}

void klock_clh_node_init(klock_clh_node *node)
{
	node->klock_first.klock_busy = 0;
	node->klock_mine = &node->klock_first;
	node->klock_predecessor = nullptr;
}
