/* SPDX-License-Identifier: MIT */
/*
 * turns - two threads that sleep hand a turn to and fro: round trips on one
 * core and on two, by each means of klock's and of the peers
 */
#include "bench.hpp"
#include "peers/peers.hpp"

#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/semaphore.hpp>
#include <klock/wait_queue.hpp>

#include <utility>

namespace bench {

namespace {

/*
 * Locks that two threads take by turns: lock(thread) waits for the thread's
 * turn, unlock(thread) hands it to the other thread. Thread 0 has the first.
 */

template <typename Semaphore>
struct by_semaphores {
	using hands_turns = void;

	by_semaphores() { turns[0].release(); }
	void lock(unsigned thread) { turns[thread].acquire(); }
	void unlock(unsigned thread) { turns[thread ^ 1].release(); }

      private:
	Semaphore turns[2];
};

template <typename Monitor>
struct by_condition {
	using hands_turns = void;

	void lock(unsigned thread)
	{
		monitor.lock();
		while (turn != thread)
			monitor.wait();
	}
	void unlock(unsigned thread)
	{
		turn = thread ^ 1;
		monitor.unlock();
		monitor.notify();
	}

      private:
	Monitor monitor;
	unsigned turn = 0;
};

template <klock::plain_lock Inner>
struct klock_monitor : klock::patient_mutex<8, Inner> {
	void wait() { changed.wait(*this); }
	void notify() { changed.notify_one(); }
	klock::condition_with<Inner> changed;
};

template <klock::plain_lock Inner>
struct by_completions {
	using hands_turns = void;

	by_completions() { turns[0].set(); }
	void lock(unsigned thread)
	{
		turns[thread].wait();
		turns[thread].reset();
	}
	void unlock(unsigned thread) { turns[thread ^ 1].set(); }

      private:
	klock::completion_with<Inner> turns[2];
};

template <klock::plain_lock Inner>
struct by_wait_queues {
	using hands_turns = void;

	void lock(unsigned thread)
	{
		bool &mine = has_turn[thread];

		queues[thread].wait([&] { return std::exchange(mine, false); });
	}
	void unlock(unsigned thread)
	{
		bool &its = has_turn[thread ^ 1];

		queues[thread ^ 1].wake_one([&] { its = true; });
	}

      private:
	klock::wait_queue_with<Inner> queues[2];
	bool has_turn[2] = {true, false};
};

constexpr const char *semaphores = "semaphores";
constexpr const char *conditions = "conditions";

/* beside: the kind of the peers that it is compared with. */
template <typename By>
row turns_by(const std::string &name, kind what, const char *beside)
{
	return row_of<By>(name, what, beside, true, 2);
}

template <klock::plain_lock Inner>
void add_turns(std::vector<row> &rows, const std::string &inner)
{
	using semaphore =
		klock::bounded_semaphore<klock::semaphore::most, Inner>;

	rows.push_back(turns_by<by_semaphores<semaphore>>(
		"semaphore" + inner, kind::klock, semaphores));
	rows.push_back(turns_by<by_completions<Inner>>(
		"completion" + inner, kind::klock, semaphores));
	rows.push_back(turns_by<by_wait_queues<Inner>>(
		"wait_queue" + inner, kind::klock, semaphores));
	rows.push_back(turns_by<by_condition<klock_monitor<Inner>>>(
		"condition" + inner, kind::klock, conditions));
}

std::vector<row> turn_rows()
{
	std::vector<row> rows;

	add_turns<klock::detail::sleepers_lock>(rows, "");
	add_turns<yielding_lock>(rows, " (hosted)");
	semaphore_peers::for_each([&]<typename Peer>() {
		rows.push_back(turns_by<by_semaphores<typename Peer::type>>(
			Peer::name, kind::peer, semaphores));
	});
	for_each_monitor([&]<typename Peer>() {
		rows.push_back(turns_by<by_condition<typename Peer::type>>(
			Peer::name, kind::peer, conditions));
	});
	return rows;
}

constexpr setting on_one_core = {2, 0, 0, placement::one_core};
constexpr setting on_two_cores = {2, 0, 0, placement::own_core};

/* Returns the times of round trips, two turns each; empty: not measured. */
series microseconds(by_row &found, const row &r)
{
	series each;

	for (const double rate : found[r.name].rate)
		each.push_back(2e6 / rate);
	return each;
}

/* To the peer that is fastest there. */
series to_best_peer(by_row &found, const std::vector<row> &rows,
		    const row &mine, std::string &best)
{
	series its;

	for (const row &r : rows) {
		const series each = microseconds(found, r);

		if (r.what == kind::peer && r.counterpart == mine.counterpart &&
		    (its.empty() || median(each) < median(its))) {
			its = each;
			best = r.name;
		}
	}
	return ratios(microseconds(found, mine), its);
}

} // namespace

void measure_turns(context &c)
{
	const std::vector<row> rows = turn_rows();
	std::vector<cells> table;
	csv file(c.file("turns.csv"),
		 {"lock", "cores", "us_median", "us_q1", "us_q3", "to_peer",
		  "to_peer_q1", "to_peer_q3", "distance", "rounds"});

	plan p{.title = "a turn to and fro",
	       .rows = all_of(rows),
	       .settings = {on_one_core},
	       .rounds = c.opts.rounds};
	if (c.here.cores >= 2)
		p.settings.push_back(on_two_cores);
	by_setting found = run_rounds(c, p);

	for (const row &r : rows) {
		cells line(r.name);

		for (const setting &asked : {on_one_core, on_two_cores}) {
			const unsigned cores = 1 + (asked != on_one_core);
			const setting s = usual(found, asked);
			const series each = microseconds(found[s], r);
			std::string best;
			const series to_peer =
				to_best_peer(found[s], rows, r, best);

			file.add(cells(r.name)
					 .of(cores)
					 .spread(each, 2)
					 .spread(to_peer, 2)
					 .of(name_of(s.apart))
					 .of(each.size()));
			line.summary(each, 2).of(
				to_peer.empty() ? none
						: fixed(median(to_peer), 2));
			if (r.what == kind::klock && cores == 1)
				c.found.bars.push_back(
					{r.name + ", round trip, cores: " +
						 std::to_string(cores) +
						 ": <= 1.1 x " + best,
					 to_peer, 1.1, true, ""});
		}
		table.push_back(line);
	}
	c.out.heading("Locks that sleep: a turn to and fro, us");
	c.out.say(markdown({"a turn by", "one core: us", "to the best peer",
			    "two cores: us", "to the best peer"},
			   table));
}

} // namespace bench
