/* SPDX-License-Identifier: MIT */
/*
 * examples - ten bugs that others have had, each with its repair
 *
 * A parameter chooses between the two; test_std_atomic.cpp explores both.
 */
#pragma once

#include <atomic>

#include <klock/irq.hpp>
#include <model/var.hpp>

/*
 * double_checked - a fast path that asks whether something is ready, relaxed
 *
 * Who sees "ready" there has not seen what was made ready.
 */
template <std::memory_order Look>
struct double_checked {
	enum { nothing, at_work, ready };

	std::atomic<int> state{nothing};
	model::var<int> table = 0;
	bool all_ready = true;

	void make_ready()
	{
		int now = nothing;

		if (state.load(Look) == ready)
			return;
		if (state.compare_exchange_strong(now, at_work,
						  std::memory_order_acquire)) {
			table = 7;
			state.store(ready, std::memory_order_release);
			state.notify_all();
		} else if (now == at_work) {
			state.wait(at_work, std::memory_order_acquire);
		}
	}

	void cpu(unsigned)
	{
		make_ready();
		if (table != 7)
			all_ready = false;
	}
	bool holds() const { return all_ready; }
};

/*
 * handler_waits - a lock that an interrupt handler takes, held with interrupts
 * on
 *
 * The handler waits for the CPU that it interrupted. Who shares a lock with a
 * handler takes it with interrupts off.
 */
template <bool Off>
struct handler_waits {
	std::atomic<bool> locked{false};
	model::var<int> events = 0;

	void lock()
	{
		while (locked.exchange(true, std::memory_order_acquire))
			locked.wait(true, std::memory_order_relaxed);
	}
	void unlock()
	{
		locked.store(false, std::memory_order_release);
		locked.notify_one();
	}

	void cpu(unsigned)
	{
		const klock::arch::irq_state before =
			Off ? klock::arch::irq_save() : false;

		lock();
		events++;
		unlock();
		klock::arch::irq_restore(before);
	}
	void handler()
	{
		lock();
		events++;
		unlock();
	}
	bool holds() const { return true; }
};

/*
 * hazard - a hazard pointer that its reader publishes too late
 *
 * The reader says which node it uses, and looks whether that node is still the
 * one; the other side takes the node away, and looks whether anybody uses it.
 * Without a full fence between the two steps of each, both looks can be too
 * early, and the node is deleted under its reader.
 */
template <std::memory_order Fence>
struct hazard {
	struct node {
		model::var<int> value = 1;
	};

	std::atomic<node *> current;
	std::atomic<node *> in_use{nullptr};

	hazard() : current(new node) {}

	void reader()
	{
		node *const n = current.load(std::memory_order_acquire);

		if (!n)
			return;
		in_use.store(n, std::memory_order_relaxed);
		std::atomic_thread_fence(Fence);
		if (current.load(std::memory_order_acquire) == n)
			(void)n->value.get();
		in_use.store(nullptr, std::memory_order_release);
	}
	void remover()
	{
		node *const n =
			current.exchange(nullptr, std::memory_order_acq_rel);

		std::atomic_thread_fence(Fence);
		if (in_use.load(std::memory_order_acquire) != n)
			delete n;
	}

	void cpu(unsigned which) { which == 0 ? reader() : remover(); }
	bool holds() const { return true; }
};

/*
 * lost_wakeup - "I sleep" and "there is work" pass each other
 *
 * Each side writes its own word and then reads the other's. Only a full fence
 * on both sides keeps both from reading the old one: then nobody wakes who
 * sleeps.
 */
template <std::memory_order Fence>
struct lost_wakeup {
	std::atomic<bool> sleeps{false}, work{false};
	std::atomic<int> bell{0};

	void sleeper()
	{
		sleeps.store(true, std::memory_order_relaxed);
		std::atomic_thread_fence(Fence);
		if (!work.load(std::memory_order_relaxed))
			bell.wait(0);
	}
	void waker()
	{
		work.store(true, std::memory_order_relaxed);
		std::atomic_thread_fence(Fence);
		if (sleeps.load(std::memory_order_relaxed)) {
			bell.store(1);
			bell.notify_one();
		}
	}

	void cpu(unsigned which) { which == 0 ? sleeper() : waker(); }
	bool holds() const { return true; }
};

/*
 * mailbox - an IPI's handler that looks first and then says that it looked
 *
 * Senders put their mail down, and send an interrupt unless one is on its way.
 * The handler that empties the box first and then takes the mark away forgets
 * what came in between: its sender saw the mark, and sent no interrupt.
 */
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

/*
 * put - a reference count that goes down relaxed
 *
 * The last one takes the object apart. What the others did with it must be
 * before: each put() releases, and the last acquires.
 */
template <std::memory_order Put>
struct put {
	std::atomic<int> held{2};
	model::var<int> object = 7;

	void cpu(unsigned)
	{
		(void)object.get();
		if (held.fetch_sub(1, Put) == 1)
			object = 0;
	}
	bool holds() const { return held == 0; }
};

/*
 * reader_unlock - a reader that leaves without publishing that it has read
 *
 * The writer finds no reader and writes; but the reader's last reads are not
 * before its count goes down, as seen from there: it may yet read what the
 * writer writes. What a reader's unlock needs is release, though it has written
 * nothing.
 */
template <std::memory_order Unlock>
struct reader_unlock {
	std::atomic<int> readers{0}; /* -1: a writer */
	model::var<int> table = 1;

	bool read_lock()
	{
		int now = readers.load(std::memory_order_relaxed);

		while (now >= 0)
			if (readers.compare_exchange_weak(
				    now, now + 1, std::memory_order_acquire,
				    std::memory_order_relaxed))
				return true;
		return false;
	}
	void read_unlock() { readers.fetch_sub(1, Unlock); }

	bool write_lock()
	{
		int nobody = 0;

		return readers.compare_exchange_strong(
			nobody, -1, std::memory_order_acquire,
			std::memory_order_relaxed);
	}
	void write_unlock() { readers.store(0, std::memory_order_release); }

	void cpu(unsigned which)
	{
		if (which == 0 && write_lock()) {
			table = 2;
			write_unlock();
		} else if (which != 0 && read_lock()) {
			(void)table.get();
			read_unlock();
		}
	}
	bool holds() const { return true; }
};

/*
 * ring_index - a ring's index that moves before its slot is filled
 */
template <std::memory_order Publish>
struct ring_index {
	std::atomic<unsigned> head{0}, tail{0};
	model::var<int> slot[2];
	bool in_order = true;

	bool put(int v)
	{
		const unsigned at = head.load(std::memory_order_relaxed);

		if (at - tail.load(std::memory_order_acquire) == 2)
			return false;
		slot[at % 2] = v;
		head.store(at + 1, Publish);
		return true;
	}
	bool take(int &v)
	{
		const unsigned at = tail.load(std::memory_order_relaxed);

		if (at == head.load(std::memory_order_acquire))
			return false;
		v = slot[at % 2];
		tail.store(at + 1, Publish);
		return true;
	}

	void cpu(unsigned which)
	{
		int last = 0, v = 0;

		for (int i = 1; i <= 3; i++) {
			if (which == 0)
				(void)put(i);
			else if (take(v))
				in_order &= v == ++last;
		}
	}
	bool holds() const { return in_order; }
};

/*
 * sequence - a seqlock whose reader has no fence between data and count
 *
 * The second look at the count may be made before the data are read: it is then
 * the same count, and half of the data is new. An acquire load at the end does
 * not help, for it orders what comes after it.
 */
template <bool Fence>
struct sequence {
	std::atomic<unsigned> count{0};
	std::atomic<int> left{0}, right{0};
	bool whole = true;

	void write(int v)
	{
		const unsigned now = count.load(std::memory_order_relaxed);

		count.store(now + 1, std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_release);
		left.store(v, std::memory_order_relaxed);
		right.store(v, std::memory_order_relaxed);
		count.store(now + 2, std::memory_order_release);
	}

	/* True if what was read is whole. */
	bool read(int &l, int &r) const
	{
		const unsigned before = count.load(std::memory_order_acquire);

		l = left.load(std::memory_order_relaxed);
		r = right.load(std::memory_order_relaxed);
		if (Fence)
			std::atomic_thread_fence(std::memory_order_acquire);
		return !(before & 1) &&
		       count.load(std::memory_order_acquire) == before;
	}

	void cpu(unsigned which)
	{
		int l, r;

		if (which == 0)
			write(1);
		else if (read(l, r))
			whole = l == r;
	}
	bool holds() const { return whole; }
};

/*
 * two_steps - a try_lock that looks, and then takes
 *
 * Two can look before either takes. One operation has to do both.
 */
template <bool Atomic>
struct two_steps {
	std::atomic<bool> locked{false};
	model::var<int> data = 0;

	bool try_lock()
	{
		if (Atomic)
			return !locked.exchange(true,
						std::memory_order_acquire);
		if (locked.load(std::memory_order_acquire))
			return false;
		locked.store(true, std::memory_order_release);
		return true;
	}
	void unlock() { locked.store(false, std::memory_order_release); }

	void cpu(unsigned)
	{
		if (try_lock()) {
			data++;
			unlock();
		}
	}
	bool holds() const { return true; }
};
