/* SPDX-License-Identifier: MIT */
/*
 * rows - what is measured: floors, every lock of klock's list, every peer
 */
#pragma once

#include "trial.hpp"

#include <string>
#include <vector>

namespace bench {

/* The floors that ratios are taken to. */
inline constexpr const char *bare_xadd_name = "bare lock xadd";
inline constexpr const char *bare_exchange_name = "bare exchange";
inline constexpr const char *exchange_and_store_name = "exchange and store";
inline constexpr const char *ping_pong_name = "ping-pong";

enum class kind { floor, klock, peer };

struct row {
	std::string name;
	kind what;
	std::string counterpart; /* a peer's: the klock lock of its family */
	bool fifo;
	u64 capacity; /* contenders that it is made for */
	usize bytes;
	std::unique_ptr<contest> (*make)(unsigned threads);

	bool is_lock() const { return what != kind::floor; }
};

/*
 * The rows for trials of so many threads. Locks that are built for a number of
 * CPUs are built for the smallest of 2, KLOCK_BENCH_CPUS and 8 times that
 * which is enough; where none is, their capacity says so.
 */
const std::vector<row> &rows_for(unsigned threads);

/* Null if there is none of that name. */
const row *find_row(const std::string &name);

/* Of one trial, at most. */
inline constexpr unsigned most_threads_a_core = 8;

/* The peers that were not found when this was built. */
std::vector<std::string> missing_peers();

const char *name_of(kind);

/*
 * shared_contest - one lock that readers share, and those who read and write
 *
 * As in contest.hpp the loops are inside, and only a whole trial is a virtual
 * call.
 */

/* What the threads of a trial do: so many of a hundred sections are writes. */
struct shared_load {
	load each;
	u32 writers;
};

struct shared_contest {
	virtual ~shared_contest() = default;

	/* One thread: lock and unlock, nothing in between. */
	virtual void read_alone(u64 turns) = 0;
	virtual void write_alone(u64 turns) = 0;

	virtual void contend(unsigned thread, const shared_load &, whistle &end,
			     tally &) = 0;
};

/* -- How one thread reads and writes ------------------------------------- */

/* A lock with no readers, to compare with: they take it as all do. */
template <typename L>
struct sharer {
	sharer(L &, unsigned number) : who(number) {}
	void read_lock(L &l) { who.lock(l); }
	void read_unlock(L &l) { who.unlock(l); }
	void write_lock(L &l) { who.lock(l); }
	void write_unlock(L &l) { who.unlock(l); }

      private:
	klock::selftest::contender<L> who;
};

template <klock::shared_lockable L>
struct sharer<L> {
	sharer(L &, unsigned number) : writer(number), reader(number) {}
	void read_lock(L &l) { reader.lock(l); }
	void read_unlock(L &l) { reader.unlock(l); }
	void write_lock(L &l) { writer.lock(l); }
	void write_unlock(L &l) { writer.unlock(l); }

      private:
	klock::selftest::contender<L> writer;
	klock::selftest::reader<L> reader;
};

/* A peer whose readers bring a node along; its writers may need none. */
template <typename L>
concept reads_with_node = requires(L &l, typename L::node &n) {
	l.lock_shared(n);
	l.unlock_shared(n);
};

template <reads_with_node L>
struct sharer<L> {
	sharer(L &l, unsigned)
	{
		if constexpr (requires { l.join(node); })
			l.join(node);
	}
	void read_lock(L &l) { l.lock_shared(node); }
	void read_unlock(L &l) { l.unlock_shared(node); }
	void write_lock(L &l)
	{
		if constexpr (klock::node_lock<L>)
			l.lock(node);
		else
			l.lock();
	}
	void write_unlock(L &l)
	{
		if constexpr (klock::node_lock<L>)
			l.unlock(node);
		else
			l.unlock();
	}

      private:
	typename L::node node;
};

template <typename L>
struct shared_lock_contest final : shared_contest {
	explicit shared_lock_contest(unsigned threads)
	{
		for (unsigned i = 0; i < threads; i++)
			contenders.push_back(std::make_unique<member>(lock, i));
	}

	void read_alone(u64 turns) override
	{
		auto &who = contenders[0]->who;

		for (; turns; turns--) {
			who.read_lock(lock);
			asm volatile("" ::: "memory");
			who.read_unlock(lock);
			asm volatile("" ::: "memory");
		}
	}

	void write_alone(u64 turns) override
	{
		auto &who = contenders[0]->who;

		for (; turns; turns--) {
			who.write_lock(lock);
			asm volatile("" ::: "memory");
			who.write_unlock(lock);
			asm volatile("" ::: "memory");
		}
	}

	void contend(unsigned thread, const shared_load &l, whistle &end,
		     tally &seen) override
	{
		auto &who = contenders[thread]->who;
		dice kinds(thread + 101);

		until(end, l.each, thread, seen, [&] {
			if (kinds.below(100) < l.writers) {
				who.write_lock(lock);
				work(l.each.section);
				who.write_unlock(lock);
			} else {
				who.read_lock(lock);
				work(l.each.section);
				who.read_unlock(lock);
			}
		});
	}

      private:
	struct alignas(128) member {
		member(L &l, unsigned number) : who(l, number) {}
		sharer<L> who;
	};

	alignas(128) L lock;
	alignas(128) std::vector<std::unique_ptr<member>> contenders;
};

/*
 * shared_rows - every lock of klock that readers share, every peer that does,
 * and an exclusive lock to compare with
 */

struct shared_row {
	std::string name;
	kind what;
	bool fair;   /* nobody, reader or writer, waits for ever */
	bool shares; /* else readers are alone, too */
	u64 capacity;
	usize bytes;
	std::unique_ptr<shared_contest> (*make)(unsigned threads);
};

/* The rows for trials of so many threads, as rows_for(). */
const std::vector<shared_row> &shared_rows_for(unsigned threads);

} // namespace bench
