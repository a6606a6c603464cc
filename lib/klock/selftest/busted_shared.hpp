/* SPDX-License-Identifier: MIT */
/*
 * busted_shared - locks for readers and writers that are wrong on purpose
 *
 * Never use them. Their waits also end when give_up is set (barrier.hpp).
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

namespace klock::selftest::busted {

/*
 * Tickets and three counters, as kernels have them: `write` counts the sections
 * that are over, `read` lets readers in. Derived locks have the mistakes.
 */
struct rw_tickets {
	static constexpr u64 max_contenders = 256;
	static constexpr u64 max_readers = 256;

	void lock() { wait_for(write, next.fetch_add_acq_rel(1)); }
	void lock_shared()
	{
		const u8 mine = next.fetch_add_acq_rel(1);

		wait_for(read, mine);
		read.store_release(after(mine));
	}
	void unlock_shared() { (void)write.fetch_add_release(1); }

	/* Whether an arriving reader would not wait. */
	[[nodiscard]] bool is_readable() const
	{
		return read.load_relaxed() == next.load_relaxed();
	}

      protected:
	/* A pause between two steps that must be one, so that tests see it. */
	static constexpr u32 pause = 50;

	static u8 after(u8 ticket) { return static_cast<u8>(ticket + 1); }
	static void wait_for(atomic<u8> &counter, u8 mine)
	{
		counter.await_acquire(
			[mine](u8 now) { return now == mine || give_up; });
	}
	void let_readers_in()
	{
		read.store_release(after(read.load_relaxed()));
	}

	atomic<u8> read;
	atomic<u8> write;
	atomic<u8> next;
};

/*
 * Lets the next writer in before the readers: that one reads `read` while this
 * one is about to store it, and one step is lost.
 */
struct rw_writer_first : rw_tickets {
	void unlock()
	{
		(void)write.fetch_add_release(1);
		const u8 mine = read.load_relaxed();
		relax_for(pause);
		read.store_release(after(mine));
	}
};

/* Writes `write` by a load and a store, while readers inside add to it. */
struct rw_two_stores : rw_tickets {
	void unlock()
	{
		const u8 mine = write.load_relaxed();

		let_readers_in();
		relax_for(pause);
		write.store_release(after(mine));
	}
};

/* Unlocks in two steps: a reader that the first lets in may end the lock. */
struct rw_two_steps : rw_tickets {
	void unlock()
	{
		let_readers_in();
		(void)write.fetch_add_release(1);
	}
};

/* The second reader does not synchronize with the writer before the first. */
struct rw_plain_read : rw_tickets {
	void lock_shared()
	{
		const u8 mine = next.fetch_add_acq_rel(1);

		wait_for(read, mine);
		read.store_relaxed(after(mine));
	}
	void unlock()
	{
		let_readers_in();
		(void)write.fetch_add_release(1);
	}
};

/* rw_ticket_lock in two counters. Derived locks have the mistakes. */
struct rw_sections {
	static constexpr u64 max_contenders = 256;
	static constexpr u64 max_readers = 256;
	using sections = u16;

	void lock()
	{
		const u16 before = request.fetch_add_acq_rel(1);

		completion.await_acquire(
			[before](u16 now) { return now == before || give_up; });
	}
	void unlock()
	{
		completion.store_release(successor(completion.load_relaxed()));
	}
	void lock_shared()
	{
		wait_for_writers(request.fetch_add_acq_rel(upper_one<u16>()));
	}
	void unlock_shared()
	{
		(void)completion.fetch_add_release(upper_one<u16>());
	}

      protected:
	void wait_for_writers(u16 before)
	{
		completion.await_acquire([before](u16 now) {
			return same_lower(now, before) || give_up;
		});
	}

	atomic<u16> completion;
	atomic<u16> request;
};

/* Does not share: admits a second reader only after the first has left. */
struct rw_one_reader : rw_sections {
	void lock_shared()
	{
		const u16 before = request.fetch_add_acq_rel(upper_one<u16>());

		completion.await_acquire(
			[before](u16 now) { return now == before || give_up; });
	}
};

/*
 * The writers' half of completion wraps without a carry, while request carries:
 * the two are never equal after that.
 */
struct rw_lost_carry : rw_sections {
	void unlock()
	{
		const u16 now = completion.load_relaxed();
		const u16 next = successor(now);

		completion.store_release(
			same_lower<u16>(next, 0)
				? static_cast<u16>(next - upper_one<u16>())
				: next);
	}
};

/*
 * A reader counts itself, then looks for writers: a writer that comes in
 * between waits for the reader, and the reader for it.
 */
struct rw_late_look : rw_sections {
	void lock_shared()
	{
		(void)request.fetch_add_acq_rel(upper_one<u16>());
		relax_for(50);
		wait_for_writers(request.load_acquire());
	}
};

/* Downgrades by leaving and queueing to read, behind a waiting writer. */
struct rw_gap : rw_sections {
	void downgrade()
	{
		unlock();
		lock_shared();
	}
};

/* phase_fair_lock in four counters. Derived locks have the mistakes. */
struct phases {
	static constexpr u64 max_contenders = 256;
	static constexpr u64 max_readers = 63;

	void lock()
	{
		const u8 mine = win.fetch_add_acq_rel(1);

		wout.await_relaxed(
			[mine](u8 now) { return now == mine || give_up; });
		const u8 found = rin.fetch_add_acquire(mark(mine));
		rout.await_acquire([found](u8 now) {
			return now == (found & ~bits) || give_up;
		});
	}
	void unlock()
	{
		const u8 mine = wout.load_relaxed();

		(void)rin.fetch_and_release(static_cast<u8>(~bits));
		wout.store_release(static_cast<u8>(mine + 1));
	}
	void lock_shared()
	{
		const u8 found = rin.fetch_add_acq_rel(one) & bits;

		if (found)
			rin.await_acquire([found](u8 now) {
				return (now & bits) != found || give_up;
			});
	}
	void unlock_shared() { (void)rout.fetch_add_release(one); }

      protected:
	static constexpr u8 bits = 3, one = 4;
	static u8 mark(u8 ticket) { return static_cast<u8>(2 | (ticket & 1)); }

	/* The steps of an upgradable reader, which has that many tickets. */
	void take_turn(u8 tickets)
	{
		const u8 mine = win.fetch_add_acq_rel(tickets);

		wout.await_acquire(
			[mine](u8 now) { return now == mine || give_up; });
	}
	void pass_turn(u8 tickets)
	{
		(void)rin.fetch_add_release(0);
		wout.store_release(
			static_cast<u8>(wout.load_relaxed() + tickets));
	}
	void write_phase()
	{
		const u8 found =
			rin.fetch_add_acquire(mark(wout.load_relaxed()));

		rout.await_acquire([found](u8 now) {
			return now == (found & ~bits) || give_up;
		});
	}

	atomic<u8> rin, rout, win, wout;
};

/* A reader waits until no writer is marked. The next writer's mark looks the
 * same, and that writer waits for the reader. */
struct pf_no_phase : phases {
	void lock_shared()
	{
		if (rin.fetch_add_acq_rel(one) & bits)
			rin.await_acquire([](u8 now) {
				return (now & bits) == 0 || give_up;
			});
	}
};

/* Lets the next writer mark rin before this one's mark is removed. */
struct pf_writer_first : phases {
	void unlock()
	{
		const u8 mine = wout.load_relaxed();

		wout.store_release(static_cast<u8>(mine + 1));
		relax_for(50);
		(void)rin.fetch_and_release(static_cast<u8>(~bits));
	}
};

/* A try takes a ticket, looks, and gives it back. That is a write phase that
 * waits for nobody, so the phase bit may change twice under a slow reader. */
struct pf_gives_back : phases {
	[[nodiscard]] bool try_lock()
	{
		u8 mine = wout.load_relaxed();

		if (!win.compare_exchange_acq_rel(mine,
						  static_cast<u8>(mine + 1)))
			return false;
		const u8 found = rin.fetch_add_acquire(mark(mine));
		if (rout.load_acquire() == (found & ~bits))
			return true;
		unlock();
		return false;
	}
};

/* An upgradable reader has one ticket: if it does not upgrade, two writers in a
 * row have the same mark. */
struct pf_one_ticket : phases {
	void lock_upgradable() { take_turn(1); }
	void unlock_upgradable() { pass_turn(1); }
	void upgrade() { write_phase(); }
};

/* An upgradable reader has two tickets, and upgrades with the second. Derived
 * locks have the mistakes. */
struct pf_upgrades : phases {
	void lock_upgradable() { take_turn(2); }
	void unlock_upgradable() { pass_turn(2); }
	void upgrade()
	{
		write_phase();
		unlock();
		write_phase();
	}
};

/* Has only the second phase: a reader that waits since the writer before may
 * see its mark again. */
struct pf_one_phase : pf_upgrades {
	void upgrade()
	{
		pass_turn(1);
		write_phase();
	}
};

/* An upgrade does not wait for the readers inside. */
struct pf_rushes : pf_upgrades {
	void upgrade()
	{
		pass_turn(1);
		(void)rin.fetch_add_acquire(mark(wout.load_relaxed()));
	}
};

/* The next writer, which reads rin, does not synchronize with the reader. */
struct pf_turn_alone : pf_upgrades {
	void unlock_upgradable()
	{
		wout.store_release(static_cast<u8>(wout.load_relaxed() + 2));
	}
};

/* Reads the lock after the release, when the next holder may have ended it. */
struct pf_looks_back : phase_fair_lock<u8> {
	void unlock_upgradable()
	{
		phase_fair_lock::unlock_upgradable();
		(void)is_locked();
	}
};

/* A reader that was a writer upgrades with the ticket that it wrote with. */
struct pf_back : phases {
	void lock_upgradable()
	{
		take_turn(1);
		write_phase();
		(void)rin.fetch_and_release(static_cast<u8>(~bits));
	}
	void unlock_upgradable() { pass_turn(1); }
	void upgrade() { write_phase(); }
};

/* Downgrades by leaving and coming back, behind a writer that waits. */
struct pf_gap : phases {
	void downgrade()
	{
		unlock();
		relax_for(50);
		lock_shared();
	}
};

/* Has no fence on either side: both may read before their store is visible. */
struct unfenced_readers {
	static constexpr u64 max_contenders = ~u64{0};
	static constexpr u64 max_readers = 8;

	void lock()
	{
		writing.await_exchange_acquire(
			1, [](u8 was) { return was == 0 || give_up; });
		for (line &one : marks)
			one.reading.await_acquire(
				[](u8 now) { return now == 0 || give_up; });
	}
	void unlock() { writing.store_release(0); }
	void lock_shared(unsigned cpu)
	{
		for (;;) {
			marks[cpu].reading.store_relaxed(1);
			if (writing.load_acquire() == 0 || give_up)
				return;
			marks[cpu].reading.store_relaxed(0);
			writing.await_relaxed(
				[](u8 now) { return now == 0 || give_up; });
		}
	}
	void unlock_shared(unsigned cpu)
	{
		marks[cpu].reading.store_release(0);
	}

      private:
	struct alignas(cache_line) line {
		atomic<u8> reading;
	};

	alignas(cache_line) atomic<u8> writing;
	line marks[max_readers];
};

} // namespace klock::selftest::busted

namespace klock::selftest {

/* A line of the list below. */
template <text Name, shared_lockable L, sharing Sharing, unsigned FoundIn,
	  text Mistake>
struct busted_shared_subject : shared_subject<Name, L, Sharing> {
	static constexpr unsigned found_in = FoundIn;
	static constexpr const char *mistake = Mistake.chars;
};

/* THE list of locks with readers that must fail; see busted.hpp. */
using busted_shared_locks = list<
	busted_shared_subject<"rw_writer_first", busted::rw_writer_first,
			      sharing::in_order, in_model | in_crowd | in_turns,
			      "tickets: moves `write` on before `read`">,
	busted_shared_subject<"rw_two_stores", busted::rw_two_stores,
			      sharing::in_order,
			      in_model | in_parallel | in_turns,
			      "tickets: the unlock stores `write`">,
	busted_shared_subject<"rw_two_steps", busted::rw_two_steps,
			      sharing::in_order, in_model | at_its_end,
			      "tickets: writes on after readers are let in">,
	busted_shared_subject<"rw_plain_read", busted::rw_plain_read,
			      sharing::in_order, in_model,
			      "tickets: a reader stores `read` relaxed">,
	busted_shared_subject<"rw_one_reader", busted::rw_one_reader,
			      sharing::in_order,
			      in_model | in_turns | in_parallel,
			      "counts: readers do not share">,
	busted_shared_subject<"rw_lost_carry", busted::rw_lost_carry,
			      sharing::in_order,
			      in_model | in_turns | in_parallel,
			      "counts: completion does not carry">,
	busted_shared_subject<"rw_late_look", busted::rw_late_look,
			      sharing::in_order, in_model | in_turns | in_crowd,
			      "counts: a reader looks after it counted">,
	busted_shared_subject<"pf_no_phase", busted::pf_no_phase,
			      sharing::by_phases,
			      in_model | in_turns | in_crowd,
			      "phases: no bit tells a writer from the next">,
	busted_shared_subject<"pf_writer_first", busted::pf_writer_first,
			      sharing::by_phases,
			      in_model | in_turns | in_crowd,
			      "phases: lets the next writer mark too early">,
	busted_shared_subject<"pf_gives_back", busted::pf_gives_back,
			      sharing::by_phases,
			      in_model | in_turns | in_crowd,
			      "phases: a try takes a ticket and gives back">,
	busted_shared_subject<"rw_gap", busted::rw_gap, sharing::in_order,
			      in_model | in_turns | in_crowd,
			      "counts: downgrades with a gap">,
	busted_shared_subject<"pf_one_ticket", busted::pf_one_ticket,
			      sharing::by_phases, in_model | in_crowd,
			      "phases: an upgradable skips one">,
	busted_shared_subject<"pf_one_phase", busted::pf_one_phase,
			      sharing::by_phases, in_model | in_crowd,
			      "phases: an upgrade skips one">,
	busted_shared_subject<"pf_rushes", busted::pf_rushes,
			      sharing::by_phases,
			      in_model | in_turns | in_crowd,
			      "phases: an upgrade waits for no reader">,
	busted_shared_subject<"pf_turn_alone", busted::pf_turn_alone,
			      sharing::by_phases, in_model,
			      "phases: an upgradable leaves by wout alone">,
	busted_shared_subject<"pf_looks_back", busted::pf_looks_back,
			      sharing::by_phases, in_model,
			      "phases: an upgradable looks as it has left">,
	busted_shared_subject<"pf_back", busted::pf_back, sharing::by_phases,
			      in_model | in_crowd,
			      "phases: a writer upgrades again">,
	busted_shared_subject<"pf_gap", busted::pf_gap, sharing::by_phases,
			      in_model | in_turns | in_crowd,
			      "phases: downgrades with a gap">,
	busted_shared_subject<"unfenced_readers", busted::unfenced_readers,
			      sharing::writers_first, in_model | in_parallel,
			      "a line per CPU: no fence on either side">>;

} // namespace klock::selftest
