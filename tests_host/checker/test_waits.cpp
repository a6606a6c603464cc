/* SPDX-License-Identifier: MIT */
/*
 * Loops that store to plain variables: those that store what is there are
 * waits, others are not; and the races of either.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>

namespace of_waits {

namespace {

using enum std::memory_order;
using model::bug;
using model::options;
using model::result;

/*
 * A ring whose two sides keep a copy of the other side's index, in the shape of
 * queues for one producer and one consumer.
 */
struct ring {
	static constexpr unsigned slots = 2;

	void push(int v, bool forgets = false)
	{
		const unsigned at = tail.load(relaxed);
		const unsigned next = (at + 1) % slots;

		while (next == seen_head)
			seen_head = head.load(emptied);
		if (!forgets)
			slot[at] = v;
		tail.store(next, fills);
	}

	int pop()
	{
		const unsigned at = head.load(relaxed);

		while (at == seen_tail)
			seen_tail = tail.load(filled);
		const int v = slot[at];
		head.store((at + 1) % slots, empties);
		return v;
	}

	std::memory_order emptied = acquire, fills = release, filled = acquire,
			  empties = release;
	std::atomic<unsigned> head{0}, tail{0};
	unsigned seen_head = 0, seen_tail = 0;
	int slot[slots] = {};
};

enum class fault { none, emptied, fills, filled, empties, no_value, shared };

result passes_on(fault f, int many)
{
	return model::explore_threads<ring>(
		{}, [](ring &) {},
		[=](ring &r) {
			if (f == fault::emptied)
				r.emptied = relaxed;
			if (f == fault::fills)
				r.fills = relaxed;
			for (int i = 1; i <= many; i++)
				r.push(i, f == fault::no_value && i == many);
			if (f == fault::shared)
				r.seen_tail = r.seen_tail;
		},
		[=](ring &r) {
			if (f == fault::filled)
				r.filled = relaxed;
			if (f == fault::empties)
				r.empties = relaxed;
			for (int i = 1; i <= many; i++)
				model::check(r.pop() == i, "in order");
		});
}

} // namespace

TEST_CASE("waits: a ring that waits by copies of indices is explored to its "
	  "end")
{
	for (const int many : {1, 2, 3, 5})
		verdict::right_by(1, passes_on(fault::none, many));
}

TEST_CASE("waits: each fault of such a ring is found")
{
	/* A store of the same value is one: shared. */
	for (const fault f : {fault::emptied, fault::fills, fault::filled,
			      fault::empties, fault::shared}) {
		INFO(static_cast<int>(f));
		verdict::found(bug::data_race, passes_on(f, 3));
	}
	verdict::found(bug::failed_check, passes_on(fault::no_value, 3));
}

TEST_CASE("waits: a value that never comes is a deadlock")
{
	const auto r = model::explore_threads<ring>(
		{}, [](ring &) {}, [](ring &r) { r.push(1); },
		[](ring &r) {
			(void)r.pop();
			(void)r.pop();
		});

	verdict::found(bug::deadlock, r);
	CHECK(verdict::has(r.message, "cpu1 loops for "));
	CHECK(verdict::has(r.message, "test_waits.cpp:"));
}

/* -- Stores that change something ------------------------------------------ */

namespace {

unsigned looks; /* in no world */

struct flag {
	std::atomic<int> set{0}, done{0};
	int data = 0;
	unsigned looks = 0;
};

/* Gives up after so many looks; a constant store comes with each. */
template <typename Count>
result gives_up(Count count)
{
	return model::explore_threads<flag>(
		{.cut_loops = true}, [](flag &) {},
		[](flag &f) { f.set.store(1, release); },
		[count](flag &f) {
			looks = 0;
			while (!f.set.load(acquire)) {
				f.data = 7;
				if (count(f) == 3)
					return;
			}
		});
}

} // namespace

TEST_CASE("waits: a turn that stores another value is no turn in vain")
{
	/* None, one, two of them; or it gives up. */
	verdict::right_by(4, gives_up([](flag &f) { return ++f.looks; }));
	verdict::right_by(4, gives_up([](flag &) { return ++looks; }));
	/* The first turn changes it, the others do not. */
	verdict::right_by(2, gives_up([](flag &f) { return f.looks = 1; }));
}

/* -- Races of turns that are cut ------------------------------------------- */

namespace {

enum class turn { none, reads, stores };

/*
 * A failed turn reads an old value, and a later CPU accesses its data: when it
 * learns of the wait, which orders nothing, or at any time.
 */
result meets(turn does, bool when_told)
{
	return model::explore_threads<flag>(
		{.cut_loops = true}, [](flag &) {},
		[](flag &f) { f.set.store(1, release); },
		[=](flag &f) {
			while (!f.set.load(acquire)) {
				if (does == turn::stores)
					f.data = 0;
				if (does == turn::reads && f.data)
					return;
			}
			if (when_told)
				f.done.store(1, relaxed);
		},
		[=](flag &f) {
			if (!when_told || f.done.load(relaxed))
				f.data = 1;
		});
}

} // namespace

TEST_CASE("waits: a race of a failed turn is found, also if the other side "
	  "comes of what is behind the loop")
{
	for (const bool when_told : {true, false}) {
		INFO("told: " << when_told);
		verdict::right(meets(turn::none, when_told));
		verdict::found(bug::data_race, meets(turn::reads, when_told));
		verdict::found(bug::data_race, meets(turn::stores, when_told));
	}
}

/* Others use the data, too, and never at the same time. */
TEST_CASE("waits: turns that stay because of others' accesses do not count")
{
	const auto r = model::explore_threads<flag>(
		{.cut_loops = true},
		[](flag &f) { model::check(f.data == 1, "its last value"); },
		[](flag &f) { f.set.store(1, release); },
		[](flag &f) {
			while (!f.set.load(acquire))
				f.data = 0;
			f.done.store(1, release);
		},
		[](flag &f) {
			while (!f.done.load(acquire))
				;
			f.data = 1;
		});

	verdict::right_by(1, r);
	CHECK(r.in_vain > 0);
}

/* -- Loops that take back what they have done ------------------------------ */

namespace {

/*
 * A reader is counted before it looks whether there is a writer, and takes that
 * back if there is: each turn of its loop writes.
 */
struct shared_lock {
	static constexpr unsigned writer = 1, reader = 2;

	void lock()
	{
		unsigned free = 0;

		while (!bits.compare_exchange_weak(free, writer, locks,
						   relaxed))
			free = 0;
	}
	void unlock() { bits.fetch_and(~writer, unlocks); }
	bool try_lock_shared()
	{
		if (!(bits.fetch_add(reader, counts) & writer))
			return true;
		bits.fetch_sub(reader, release);
		return false;
	}
	void unlock_shared() { bits.fetch_sub(reader, leaves); }

	std::memory_order locks = acquire, unlocks = release, counts = acquire,
			  leaves = release;
	std::atomic<unsigned> bits{0};
};

struct shared_data : shared_lock {
	int data = 0;
};

enum class missing { nothing, locks, unlocks, counts, leaves, look };

/* Two CPUs read often, one writes. */
result reads_shared(missing order, std::vector<unsigned> runs, options how = {})
{
	how.runs = std::move(runs);
	return model::explore<shared_data>(
		how, [order](shared_data &d, unsigned cpu) {
			if (cpu == 1) {
				if (order == missing::locks)
					d.locks = relaxed;
				if (order == missing::unlocks)
					d.unlocks = relaxed;
				d.lock();
				d.data++;
				d.unlock();
				return;
			}
			if (order == missing::counts)
				d.counts = relaxed;
			if (order == missing::leaves)
				d.leaves = relaxed;
			if (order == missing::look)
				(void)d.try_lock_shared();
			else
				while (!d.try_lock_shared())
					;
			model::check(d.data <= 2, "what was written");
			d.unlock_shared();
		});
}

} // namespace

TEST_CASE("waits: a loop that adds and takes back is explored for some turns, "
	  "which is said")
{
	for (const auto &runs : {std::vector{1u, 1u}, std::vector{2u, 2u}}) {
		const result r = reads_shared(missing::nothing, runs);

		INFO(r.timeline);
		CHECK(r.ok());
		CHECK_FALSE(r.exhaustive);
		CHECK(r.complete > 1);
		CHECK(r.left_out > 0);
		CHECK(r.limit.starts_with("max_events: "));
		CHECK(verdict::has(r.limit,
				   " a loop that writes? at test_waits.cpp:"));
		CHECK(verdict::has(r.limit, "unroll sets another"));
	}
}

TEST_CASE("waits: each fault of such a lock is found")
{
	for (const missing order :
	     {missing::locks, missing::unlocks, missing::counts,
	      missing::leaves, missing::look})
		CHECK(reads_shared(order, {1, 1}).found == bug::data_race);
}

/* Others may do it as often outside of the loop: that has no bound. */
TEST_CASE("waits: a bound is for turns in a row of the loop without an end")
{
	const auto r = model::explore_threads<shared_data>(
		{}, [](shared_data &d) { model::check(d.data == 9, "all"); },
		[](shared_data &d) {
			d.lock();
			d.unlock();
		},
		[](shared_data &d) {
			for (int i = 0; i < 9; i++) {
				while (!d.try_lock_shared())
					;
				d.data++;
				d.unlock_shared();
			}
		});

	CHECK(r.ok());
	CHECK(r.complete > 0);
	CHECK(r.limit.find("max_events: ") == 0);
}

/* -- The library's latch, semaphore and barrier -----------------------------
 */

namespace {

struct meeting {
	std::latch latch{2};
	std::counting_semaphore<2> free{0};
	std::binary_semaphore mutex{1};
	std::barrier<> barrier{2};
	int data = 0;
};

const struct {
	const char *what;
	bug found; /* none: it is right */
	void (*first)(meeting &);
	void (*second)(meeting &);
} meetings[] = {
	{"a latch", bug::none,
	 [](meeting &m) {
		 m.data = 1;
		 m.latch.count_down();
	 },
	 [](meeting &m) {
		 m.latch.arrive_and_wait();
		 model::check(m.data == 1 && m.latch.try_wait());
	 }},
	{"a latch that is not waited for", bug::data_race,
	 [](meeting &m) {
		 m.data = 1;
		 m.latch.count_down();
	 },
	 [](meeting &m) {
		 m.latch.count_down();
		 model::check(m.data < 2);
	 }},
	{"a latch at which one does not arrive", bug::deadlock,
	 [](meeting &) {}, [](meeting &m) { m.latch.arrive_and_wait(); }},
	{"a semaphore", bug::none,
	 [](meeting &m) {
		 m.data = 1;
		 m.free.release();
	 },
	 [](meeting &m) {
		 m.free.acquire();
		 m.data = 2;
	 }},
	{"a semaphore's try", bug::none,
	 [](meeting &m) {
		 m.data = 1;
		 m.free.release(2);
	 },
	 [](meeting &m) {
		 if (m.free.try_acquire())
			 m.data = 2;
	 }},
	{"a semaphore that is not released", bug::deadlock,
	 [](meeting &m) { (void)m.free.try_acquire(); },
	 [](meeting &m) { m.free.acquire(); }},
	{"a semaphore as a mutex", bug::none,
	 [](meeting &m) {
		 m.mutex.acquire();
		 m.data++;
		 m.mutex.release();
	 },
	 [](meeting &m) {
		 m.mutex.acquire();
		 m.data++;
		 m.mutex.release();
	 }},
	{"a barrier, twice", bug::none,
	 [](meeting &m) {
		 m.data = 1;
		 m.barrier.arrive_and_wait();
		 m.barrier.arrive_and_wait();
		 m.data = 2;
	 },
	 [](meeting &m) {
		 m.barrier.arrive_and_wait();
		 model::check(m.data == 1);
		 m.barrier.arrive_and_wait();
	 }},
	{"a barrier that is left", bug::none,
	 [](meeting &m) {
		 m.data = 1;
		 m.barrier.arrive_and_drop();
	 },
	 [](meeting &m) {
		 m.barrier.arrive_and_wait();
		 model::check(m.data == 1);
		 m.barrier.arrive_and_wait();
	 }},
	{"a barrier that is not waited at", bug::data_race,
	 [](meeting &m) {
		 m.data = 1;
		 m.barrier.arrive_and_wait();
	 },
	 [](meeting &m) {
		 (void)m.barrier.arrive();
		 model::check(m.data < 2);
	 }},
};

} // namespace

TEST_CASE("waits: the library's latch, semaphore and barrier")
{
	for (const auto &one : meetings) {
		const auto r = model::explore_threads<meeting>(
			{}, [](meeting &) {}, one.first, one.second);

		INFO(one.what);
		if (one.found == bug::none)
			verdict::right(r);
		else
			verdict::found(one.found, r);
	}
}

/* -- Sleepers ---------------------------------------------------------------
 */

namespace {

struct sleepers {
	std::atomic<int> x{0};
};

using thread = void (*)(sleepers &);

/* Takes one, sleeps while there is none. */
void takes(sleepers &s)
{
	for (int now = s.x.load(relaxed);;) {
		if (!now)
			s.x.wait(0, relaxed), now = s.x.load(relaxed);
		else if (s.x.compare_exchange_strong(now, now - 1, relaxed))
			return;
	}
}

const struct {
	const char *what;
	bool is_lost; /* a wake-up, so that somebody sleeps for ever */
	std::vector<thread> threads;
	model::u64 executions = 0; /* by hand; 0: more than one */
} notified[] = {
	{"one of one",
	 false,
	 {[](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_one();
	  }},
	 2},
	{"all of two",
	 false,
	 {[](sleepers &s) { s.x.wait(0); }, [](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_all();
	  }},
	 5},
	{"one of two",
	 true,
	 {[](sleepers &s) { s.x.wait(0); }, [](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_one();
	  }}},
	{"one of two, twice",
	 false,
	 {[](sleepers &s) { s.x.wait(0); }, [](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_one();
		  s.x.notify_one();
	  }}},
	{"the first of two, which tells the second",
	 false,
	 {[](sleepers &s) {
		  s.x.wait(0);
		  s.x.notify_one();
	  },
	  [](sleepers &s) {
		  s.x.wait(0);
		  s.x.notify_one();
	  },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_one();
	  }}},
	{"the second, if that is the first's to tell",
	 true,
	 {[](sleepers &s) {
		  s.x.wait(0);
		  s.x.notify_one();
	  },
	  [](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_one();
	  }}},
	/* The first notification cannot be for a sleeper on 1. */
	{"each of two that sleep on different values",
	 false,
	 {[](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  if (s.x == 1)
			  s.x.wait(1);
	  },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x.notify_one();
		  s.x = 2;
		  s.x.notify_one();
	  }}},
	/* The one that is woken knows more than the one that sleeps on. */
	{"the second of two, which does not tell the first",
	 true,
	 {[](sleepers &s) {
		  s.x.wait(0);
		  s.x.notify_one();
	  },
	  [](sleepers &s) {
		  if (s.x == 1)
			  s.x.wait(1);
	  },
	  [](sleepers &s) {
		  s.x = 1;
		  s.x = 2;
		  s.x.notify_one();
	  }}},
	{"before there is a new value",
	 true,
	 {[](sleepers &s) { s.x.wait(0); },
	  [](sleepers &s) {
		  s.x.notify_one();
		  s.x = 1;
	  }}},
	{"at each of two that are there to be taken",
	 false,
	 {takes, takes,
	  [](sleepers &s) {
		  for (int i = 0; i < 2; i++) {
			  s.x++;
			  s.x.notify_one();
		  }
	  }}},
	{"at the first that is there to be taken",
	 true,
	 {takes, takes,
	  [](sleepers &s) {
		  for (int i = 0; i < 2; i++)
			  if (s.x++ == 0)
				  s.x.notify_one();
	  }}},
};

} // namespace

TEST_CASE("waits: notify_one() wakes one, whichever")
{
	for (const auto &one : notified) {
		const auto r = model::explore<sleepers>(
			{.sections =
				 std::vector<unsigned>(one.threads.size(), 1)},
			[&one](sleepers &s, unsigned cpu) {
				one.threads[cpu](s);
			});

		INFO(one.what);
		if (one.is_lost) {
			verdict::found(bug::deadlock, r);
			CHECK(verdict::has(r.message, "sleepers of x"));
		} else if (one.executions) {
			verdict::right_by(one.executions, r);
		} else {
			verdict::good(r);
		}
	}
}

} // namespace of_waits
