/* SPDX-License-Identifier: MIT */
#include "ck.h"

#include <ck_barrier.h>
#include <ck_brlock.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_sequence.h>
#include <ck_spinlock.h>
#include <ck_tflock.h>

/* Turns a waiter ahead, as a power of two: what ck's own benchmark takes. */
enum { pace = 5 };

_Static_assert(sizeof(ck_spinlock_ticket_t) <= sizeof(struct klock_ck_ticket),
	       "ticket");
_Static_assert(sizeof(ck_spinlock_fas_t) == sizeof(struct klock_ck_fas), "fas");
_Static_assert(sizeof(ck_spinlock_mcs_context_t) ==
		       sizeof(struct klock_ck_mcs_node),
	       "mcs");
_Static_assert(sizeof(ck_spinlock_clh_t) == sizeof(struct klock_ck_clh_node),
	       "clh");
_Static_assert(sizeof(ck_spinlock_anderson_t) ==
		       sizeof(struct klock_ck_anderson),
	       "anderson");
_Static_assert(sizeof(ck_spinlock_anderson_thread_t) ==
		       sizeof(struct klock_ck_anderson_slot),
	       "anderson slot");

_Static_assert(sizeof(ck_rwlock_t) == sizeof(struct klock_ck_rw), "rwlock");
_Static_assert(sizeof(ck_pflock_t) == sizeof(struct klock_ck_pf), "pflock");
_Static_assert(sizeof(ck_tflock_ticket_t) == sizeof(struct klock_ck_tf),
	       "tflock");
_Static_assert(sizeof(ck_brlock_t) == sizeof(struct klock_ck_br), "brlock");
_Static_assert(sizeof(ck_brlock_reader_t) == sizeof(struct klock_ck_br_reader),
	       "brlock reader");
_Static_assert(sizeof(ck_sequence_t) == sizeof(unsigned), "sequence");
_Static_assert(sizeof(ck_barrier_centralized_t) ==
		       sizeof(struct klock_ck_barrier),
	       "barrier");
_Static_assert(sizeof(ck_barrier_centralized_state_t) == sizeof(unsigned),
	       "barrier's sense");

/* -- Exclusive locks -- */

#define SPINLOCK(lock)                                                         \
	void klock_ck_##lock##_lock(struct klock_ck_##lock *l)                 \
	{                                                                      \
		ck_spinlock_##lock##_lock((ck_spinlock_##lock##_t *)l);        \
	}                                                                      \
	_Bool klock_ck_##lock##_try_lock(struct klock_ck_##lock *l)            \
	{                                                                      \
		return ck_spinlock_##lock##_trylock(                           \
			(ck_spinlock_##lock##_t *)l);                          \
	}                                                                      \
	void klock_ck_##lock##_unlock(struct klock_ck_##lock *l)               \
	{                                                                      \
		ck_spinlock_##lock##_unlock((ck_spinlock_##lock##_t *)l);      \
	}

SPINLOCK(ticket)
SPINLOCK(fas)

void klock_ck_ticket_lock_paced(struct klock_ck_ticket *l)
{
	ck_spinlock_ticket_lock_pb((ck_spinlock_ticket_t *)l, pace);
}

void klock_ck_mcs_lock(struct klock_ck_mcs *l, struct klock_ck_mcs_node *n)
{
	ck_spinlock_mcs_lock((ck_spinlock_mcs_t *)l,
			     (ck_spinlock_mcs_context_t *)n);
}

_Bool klock_ck_mcs_try_lock(struct klock_ck_mcs *l, struct klock_ck_mcs_node *n)
{
	return ck_spinlock_mcs_trylock((ck_spinlock_mcs_t *)l,
				       (ck_spinlock_mcs_context_t *)n);
}

void klock_ck_mcs_unlock(struct klock_ck_mcs *l, struct klock_ck_mcs_node *n)
{
	ck_spinlock_mcs_unlock((ck_spinlock_mcs_t *)l,
			       (ck_spinlock_mcs_context_t *)n);
}

void klock_ck_clh_init(struct klock_ck_clh *l, struct klock_ck_clh_node *free)
{
	ck_spinlock_clh_init((ck_spinlock_clh_t **)&l->tail,
			     (ck_spinlock_clh_t *)free);
}

void klock_ck_clh_lock(struct klock_ck_clh *l, struct klock_ck_clh_node *n)
{
	ck_spinlock_clh_lock((ck_spinlock_clh_t **)&l->tail,
			     (ck_spinlock_clh_t *)n);
}

void klock_ck_clh_unlock(struct klock_ck_clh_node **n)
{
	ck_spinlock_clh_unlock((ck_spinlock_clh_t **)n);
}

void klock_ck_anderson_init(struct klock_ck_anderson *l,
			    struct klock_ck_anderson_slot *slots,
			    unsigned number)
{
	ck_spinlock_anderson_init((ck_spinlock_anderson_t *)l,
				  (ck_spinlock_anderson_thread_t *)slots,
				  number);
}

void klock_ck_anderson_lock(struct klock_ck_anderson *l,
			    struct klock_ck_anderson_slot **mine)
{
	ck_spinlock_anderson_lock((ck_spinlock_anderson_t *)l,
				  (ck_spinlock_anderson_thread_t **)mine);
}

void klock_ck_anderson_unlock(struct klock_ck_anderson *l,
			      struct klock_ck_anderson_slot *mine)
{
	ck_spinlock_anderson_unlock((ck_spinlock_anderson_t *)l,
				    (ck_spinlock_anderson_thread_t *)mine);
}

struct klock_ck_words klock_ck_sequence_read(const struct klock_ck_sequence *s)
{
	const ck_sequence_t *const sequence =
		(const ck_sequence_t *)&s->sequence;
	struct klock_ck_words seen;
	unsigned began;

	do {
		began = ck_sequence_read_begin(sequence);
		seen = s->words;
	} while (ck_sequence_read_retry(sequence, began));
	return seen;
}

void klock_ck_sequence_write(struct klock_ck_sequence *s, unsigned long first,
			     unsigned long second)
{
	ck_sequence_write_begin((ck_sequence_t *)&s->sequence);
	s->words.first = first;
	s->words.second = second;
	ck_sequence_write_end((ck_sequence_t *)&s->sequence);
}

void klock_ck_barrier_wait(struct klock_ck_barrier *b, unsigned *sense,
			   unsigned threads)
{
	ck_barrier_centralized((ck_barrier_centralized_t *)b,
			       (ck_barrier_centralized_state_t *)sense,
			       threads);
}

/* -- Readers and writers -- */

#define READ_WRITE(lock, of_ck)                                                \
	void klock_ck_##lock##_lock(struct klock_ck_##lock *l)                 \
	{                                                                      \
		of_ck##_write_lock((of_ck##_t *)l);                            \
	}                                                                      \
	void klock_ck_##lock##_unlock(struct klock_ck_##lock *l)               \
	{                                                                      \
		of_ck##_write_unlock((of_ck##_t *)l);                          \
	}                                                                      \
	void klock_ck_##lock##_lock_shared(struct klock_ck_##lock *l)          \
	{                                                                      \
		of_ck##_read_lock((of_ck##_t *)l);                             \
	}                                                                      \
	void klock_ck_##lock##_unlock_shared(struct klock_ck_##lock *l)        \
	{                                                                      \
		of_ck##_read_unlock((of_ck##_t *)l);                           \
	}

READ_WRITE(rw, ck_rwlock)
READ_WRITE(pf, ck_pflock)
READ_WRITE(tf, ck_tflock_ticket)

void klock_ck_br_join(struct klock_ck_br *l, struct klock_ck_br_reader *r)
{
	ck_brlock_read_register((ck_brlock_t *)l, (ck_brlock_reader_t *)r);
}

void klock_ck_br_lock(struct klock_ck_br *l)
{
	ck_brlock_write_lock((ck_brlock_t *)l);
}

void klock_ck_br_unlock(struct klock_ck_br *l)
{
	ck_brlock_write_unlock((ck_brlock_t *)l);
}

void klock_ck_br_lock_shared(struct klock_ck_br *l,
			     struct klock_ck_br_reader *r)
{
	ck_brlock_read_lock((ck_brlock_t *)l, (ck_brlock_reader_t *)r);
}

void klock_ck_br_unlock_shared(struct klock_ck_br_reader *r)
{
	ck_brlock_read_unlock((ck_brlock_reader_t *)r);
}
