/* SPDX-License-Identifier: MIT */
/*
 * mailbox - an IPI's handler that looks first and then says that it looked
 *
 * Senders put their mail down, and send an interrupt unless one is on its way.
 * The handler that empties the box first and then takes the mark away forgets
 * what came in between: its sender saw the mark, and sent no interrupt.
 */
#pragma once

#include <atomic>

template <bool MarkFirst>
struct mailbox {
	std::atomic<unsigned> mail{0};
	std::atomic<bool> on_its_way{false};
	std::atomic<int> interrupts{0}; /* what the hardware keeps */

	void send(unsigned letter)
	{
		mail.fetch_or(letter, std::memory_order_release);
		if (!on_its_way.exchange(true, std::memory_order_acq_rel)) {
			interrupts.fetch_add(1, std::memory_order_release);
			interrupts.notify_one();
		}
	}

	unsigned handle()
	{
		unsigned got;

		if (MarkFirst) {
			on_its_way.exchange(false, std::memory_order_acq_rel);
			got = mail.exchange(0, std::memory_order_acquire);
		} else {
			got = mail.exchange(0, std::memory_order_acquire);
			on_its_way.exchange(false, std::memory_order_acq_rel);
		}
		return got;
	}

	/* The receiver waits for all mail: for ever, if some is lost. */
	void cpu(unsigned which)
	{
		unsigned got = 0;
		int seen = 0;

		if (which != 0)
			return send(which);
		while (got != 3) {
			interrupts.wait(seen, std::memory_order_acquire);
			seen = interrupts.load(std::memory_order_relaxed);
			got |= handle();
		}
	}
	bool holds() const { return true; }
};
