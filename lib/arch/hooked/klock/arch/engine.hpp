/* SPDX-License-Identifier: MIT */
/*
 * engine - whoever stands behind the hooked port: model checker or simulator
 *
 * Every operation of klock's atomics, every access to a plain<T>, every change
 * of the interrupt flag calls the engine that runs. Values cross as words of 64
 * bits, those of a negative number as its own width has them. With none running
 * (set-up before a run, the look at the result after it) operations act on the
 * memory, as a single thread would.
 *
 * One engine runs at a time, on one host thread; the CPUs are its fibers.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* The place in the code that an operation is called from. */
struct site {
	const char *file;
	int line;

	/* Code that tells the checker of its accesses need not tell of it. */
	__attribute__((no_sanitize("thread"))) constexpr site(
		const char *in_file, int on_line)
	    : file(in_file), line(on_line)
	{
	}
};

namespace hooked {

/*
 * The kind of a location's value: an unsigned integer, which may be a counter
 * that wraps; a signed one; no number (bool, enum, pointer); the queue of the
 * sleepers of a std::atomic (update::wake_one); or the waiters of an object
 * that may be gone by now, as its end is theirs to see.
 */
enum class holds : u8 { counter, signed_number, other, sleepers, ended };

/*
 * The bits of a location that an operation accesses: all of them, or one field
 * of a word that is divided. The location is the whole word, whichever field is
 * accessed.
 */
struct window {
	const void *at;
	u8 bytes;     /* of the location */
	u8 shift;     /* lowest bit that is meant */
	u8 bits;      /* how many */
	u8 field = 0; /* bits of each field; 0: not divided */
	holds what = holds::counter;
	u8 together = 0; /* of the lowest bits: accessed at once */

	constexpr u64 mask() const
	{
		return bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
	}

	/* The part of the location's value that the operation sees. */
	constexpr u64 look(u64 word) const { return word >> shift & mask(); }

	/* look() of a signed number. */
	constexpr int64_t as_signed(u64 word) const
	{
		const u64 sign = u64{1} << (bits - 1);

		return static_cast<int64_t>((look(word) ^ sign) - sign);
	}

	/* The location's value once v is put where the operation looks. */
	constexpr u64 put(u64 word, u64 v) const
	{
		return (word & ~(mask() << shift)) | (v & mask()) << shift;
	}
};

/*
 * The change that a read-modify-write makes to the value. wake: of the queue in
 * which std::atomic's sleepers are. The low half has how many have come, the
 * high half how many of these were woken.
 */
enum class update : u8 {
	exchange,
	add,
	subtract,
	bit_or,
	bit_and,
	bit_xor,
	wake_one,
	wake_all
};

constexpr u64 sleepers_came(u64 queue) { return queue & 0xffffffff; }
constexpr u64 sleepers_woken(u64 queue) { return queue >> 32; }

constexpr u64 updated(update how, u64 found, u64 operand)
{
	switch (how) {
	case update::exchange:
		return operand;
	case update::add:
		return found + operand;
	case update::subtract:
		return found - operand;
	case update::bit_or:
		return found | operand;
	case update::bit_and:
		return found & operand;
	case update::bit_xor:
		return found ^ operand;
	case update::wake_one:
		return sleepers_woken(found) < sleepers_came(found)
			       ? found + (u64{1} << 32)
			       : found;
	case update::wake_all:
		return sleepers_came(found) << 32 | sleepers_came(found);
	}
	return found;
}

/* A wait's predicate: a borrowed callable, alive as long as the wait. */
struct test {
	bool (*call)(void *what, u64 value);
	void *what;

	bool operator()(u64 value) const { return call(what, value); }
};

/* A wait's pace: spin iterations after a read. No call: one turn. */
struct pace {
	u32 (*call)(void *what, u64 value) = nullptr;
	void *what = nullptr;

	u32 operator()(u64 value) const { return call ? call(what, value) : 1; }
};

/* A wait's patience: looks in vain at one value, or endless. */
using patience = pace;

struct engine {
	/* An object was constructed, or is about to be gone. */
	virtual void born(const void *at, usize bytes) = 0;
	virtual void dead(const void *at, usize bytes) = 0;

	/* The window's value; a store to a field leaves the others alone. */
	virtual u64 load(window, order, site) = 0;
	virtual void store(window, u64 v, order, site) = 0;

	/* Changes the window's value; returns the value before. */
	virtual u64 rmw(window, update, u64 operand, order, site) = 0;
	virtual bool compare_exchange(window, u64 &expected, u64 desired, order,
				      site) = 0;

	/*
	 * compare_exchange() by C++'s rules: a failure has an order of its own,
	 * and a weak one may fail though the value is the expected one.
	 */
	virtual bool compare_exchange_or(window w, u64 &expected, u64 desired,
					 order o, order failed, bool weak,
					 site s)
	{
		(void)failed;
		(void)weak;
		return compare_exchange(w, expected, desired, o, s);
	}

	/*
	 * Adds what lies between the two to the fields of a divided word, all
	 * at once: those that differ held `from`, or it is a part of them.
	 */
	virtual void advance(window all, u64 from, u64 to, order o, site s)
	{
		(void)rmw(all, update::add, (to - from) & all.mask(), o, s);
	}

	virtual void fence(order, site) = 0;

	/* arch/CONTRACT.md says what each waits for. */
	virtual u64 await(window, test done, pace, order, site) = 0;
	virtual u64 await_patient(window, patience, order, site) = 0;
	virtual u64 await_until(window, test done, u64 deadline, order,
				site) = 0;
	virtual u64 await_exchange(window, u64 v, test done, order, site) = 0;
	virtual void await_either(window, test done, window other,
				  test other_done, order, site) = 0;

	/*
	 * std::atomic's wait(): until the value is not old and notify() was
	 * called.
	 */
	virtual void wait_while(window w, u64 old, order o, site s)
	{
		const auto changed = [](void *was, u64 v) {
			return v != *static_cast<u64 *>(was);
		};
		(void)await(w, {changed, &old}, {}, o, s);
	}
	virtual void notify(window, bool all, site) { (void)all; }

	/* Called before the access; with is the value that will be there. */
	virtual void read_plain(const void *at, usize bytes, site) = 0;
	virtual void write_plain(const void *at, const void *with, usize bytes,
				 site) = 0;

	virtual void relax(u32 turns) = 0;
	virtual u64 cycles() = 0;

	/* The flag before; sets it. */
	virtual bool irq_flag(bool enabled) = 0;

      protected:
	~engine() = default;
};

/* Leaves a look at a run's result that would wait for ever; null: nobody can.
 */
using leaver = void (*)(site);

/* The code reads it, too. On a page of its own, apart from the code's data:
 * the checker protects others (model/engine/lookout.hpp). */
struct alignas(4096) state_of_port {
	engine *running = nullptr;
	u32 counter_mask = ~u32{0};
	leaver leave_endless_wait = nullptr;
};
[[gnu::section("klock_port")]] inline constinit state_of_port state;

/* The engine whose fiber this is; none outside a run. */
inline constexpr engine *&running = state.running;

inline constexpr leaver &leave_endless_wait = state.leave_endless_wait;

/* The bits that counters have: fewer than their type's while a checker says. */
inline constexpr u32 &counter_mask = state.counter_mask;

} // namespace hooked
} // namespace klock::arch
