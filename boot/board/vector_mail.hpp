/* SPDX-License-Identifier: MIT */
/*
 * vector_mail - many software vectors over one inter-processor interrupt
 *
 * Where the interrupt controller has one interrupt from CPU to CPU, or a few,
 * its meaning lies in memory: each CPU has a mail. A sender posts, then raises
 * the interrupt, always; the receiver acknowledges the interrupt, then takes
 * what has been posted. So nothing posted is left behind: it was there before
 * its interrupt, and an interrupt that comes after the acknowledgement is a new
 * one. Two posts of a vector may become one; an interrupt may find no mail.
 *
 * What the sender wrote before it posted is seen by who has taken it. That the
 * interrupt does not overtake the post is for the machine: a fence between
 * memory and the controller's register.
 *
 * Context: any, NMI handlers included. The receiver alone takes.
 */
#pragma once

#include <klock/atomic.hpp>

namespace boot {

/* The vectors that go by mail: as many as a u32 has bits. */
inline constexpr klock::u8 first_mail_vector = 0x30;
inline constexpr klock::u8 last_mail_vector = 0x4f;

/* Messages of boot itself. */
enum mail_order : klock::u32 {
	mail_wake = 1, /* there is work: an idle CPU looks for it */
	mail_stop = 2, /* a panic: stand still */
};

struct vector_mail {
	/* A vector from first_ to last_mail_vector. */
	void post(klock::u8 vector)
	{
		vectors.fetch_or_release(klock::u32{1}
					 << (vector - first_mail_vector));
	}

	void post(mail_order order) { orders.fetch_or_release(order); }

	/* The orders since the last time, as bits. */
	klock::u32 take_orders() { return orders.exchange_acquire(0); }

	/* Calls handle(vector) for each one posted, the lowest first. */
	template <typename Handle>
	void take_vectors(Handle handle)
	{
		klock::u32 left = vectors.exchange_acquire(0);

		for (klock::u8 vector = first_mail_vector; left;
		     vector++, left >>= 1) {
			if (left & 1)
				handle(vector);
		}
	}

      private:
	klock::atomic<klock::u32> vectors; /* bit n: first_mail_vector + n */
	klock::atomic<klock::u32> orders;  /* of enum mail_order */
};

} // namespace boot
