/* SPDX-License-Identifier: MIT */
/*
 * ck - Concurrency Kit's locks as functions: its headers are C, not C++
 *
 * The types have the size and alignment of ck's; ck.c asserts it. Link-time
 * optimisation makes the functions inline again.
 */
#pragma once

#ifdef __cplusplus
#define KLOCK_CK_BOOL bool
extern "C" {
#else
#define KLOCK_CK_BOOL _Bool
#endif

enum { klock_ck_slots = 256 };

struct klock_ck_ticket {
	unsigned words[2];
};
struct klock_ck_fas {
	unsigned word;
};
struct klock_ck_mcs {
	void *tail;
};
struct klock_ck_mcs_node {
	void *words[2];
};
struct klock_ck_clh_node {
	void *words[2];
};
struct klock_ck_clh {
	struct klock_ck_clh_node *tail;
};
struct klock_ck_anderson_slot {
	unsigned words[2];
};
struct klock_ck_anderson {
	void *slots;
	unsigned words[16];
};

void klock_ck_ticket_lock(struct klock_ck_ticket *);
void klock_ck_ticket_lock_paced(struct klock_ck_ticket *);
KLOCK_CK_BOOL klock_ck_ticket_try_lock(struct klock_ck_ticket *);
void klock_ck_ticket_unlock(struct klock_ck_ticket *);

void klock_ck_fas_lock(struct klock_ck_fas *);
KLOCK_CK_BOOL klock_ck_fas_try_lock(struct klock_ck_fas *);
void klock_ck_fas_unlock(struct klock_ck_fas *);

void klock_ck_mcs_lock(struct klock_ck_mcs *, struct klock_ck_mcs_node *);
KLOCK_CK_BOOL klock_ck_mcs_try_lock(struct klock_ck_mcs *,
				    struct klock_ck_mcs_node *);
void klock_ck_mcs_unlock(struct klock_ck_mcs *, struct klock_ck_mcs_node *);

void klock_ck_clh_init(struct klock_ck_clh *, struct klock_ck_clh_node *free);
void klock_ck_clh_lock(struct klock_ck_clh *, struct klock_ck_clh_node *);
void klock_ck_clh_unlock(struct klock_ck_clh_node **);

void klock_ck_anderson_init(struct klock_ck_anderson *,
			    struct klock_ck_anderson_slot *, unsigned slots);
void klock_ck_anderson_lock(struct klock_ck_anderson *,
			    struct klock_ck_anderson_slot **);
void klock_ck_anderson_unlock(struct klock_ck_anderson *,
			      struct klock_ck_anderson_slot *);

/* A value of two words under a sequence; the writer is one at a time. */
struct klock_ck_words {
	unsigned long first, second;
};
struct klock_ck_sequence {
	unsigned sequence;
	struct klock_ck_words words;
};
struct klock_ck_barrier {
	unsigned words[2];
};

struct klock_ck_words klock_ck_sequence_read(const struct klock_ck_sequence *);
void klock_ck_sequence_write(struct klock_ck_sequence *, unsigned long first,
			     unsigned long second);
void klock_ck_barrier_wait(struct klock_ck_barrier *, unsigned *sense,
			   unsigned threads);

/* -- Readers and writers -- */

struct klock_ck_rw {
	unsigned words[2];
};
struct klock_ck_pf {
	unsigned words[4];
};
struct klock_ck_tf {
	unsigned words[2];
};
struct klock_ck_br_reader {
	void *words[3];
};
struct klock_ck_br {
	void *words[2];
};

void klock_ck_rw_lock(struct klock_ck_rw *);
void klock_ck_rw_unlock(struct klock_ck_rw *);
void klock_ck_rw_lock_shared(struct klock_ck_rw *);
void klock_ck_rw_unlock_shared(struct klock_ck_rw *);

void klock_ck_pf_lock(struct klock_ck_pf *);
void klock_ck_pf_unlock(struct klock_ck_pf *);
void klock_ck_pf_lock_shared(struct klock_ck_pf *);
void klock_ck_pf_unlock_shared(struct klock_ck_pf *);

void klock_ck_tf_lock(struct klock_ck_tf *);
void klock_ck_tf_unlock(struct klock_ck_tf *);
void klock_ck_tf_lock_shared(struct klock_ck_tf *);
void klock_ck_tf_unlock_shared(struct klock_ck_tf *);

/* Each reader joins once, before it reads. */
void klock_ck_br_join(struct klock_ck_br *, struct klock_ck_br_reader *);
void klock_ck_br_lock(struct klock_ck_br *);
void klock_ck_br_unlock(struct klock_ck_br *);
void klock_ck_br_lock_shared(struct klock_ck_br *, struct klock_ck_br_reader *);
void klock_ck_br_unlock_shared(struct klock_ck_br_reader *);

#ifdef __cplusplus
}
#endif
