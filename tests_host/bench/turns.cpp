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

/* Each has pass(thread, inside): waits for the thread's turn, calls inside(),
 * and hands the turn to the other thread. Thread 0 has the first. */

template <typename Semaphore>
struct by_semaphores {
	by_semaphores() { turns[0].release(); }

	template <typename Inside>
	void pass(unsigned thread, Inside inside)
	{
		turns[thread].acquire();
		inside();
		turns[thread ^ 1].release();
	}

      private:
	Semaphore turns[2];
};

template <typename Monitor>
struct by_condition {
	template <typename Inside>
	void pass(unsigned thread, Inside inside)
	{
		monitor.lock();
		while (turn != thread)
			monitor.wait();
		inside();
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
	by_completions() { turns[0].set(); }

	template <typename Inside>
	void pass(unsigned thread, Inside inside)
	{
		turns[thread].wait();
		turns[thread].reset();
		inside();
		turns[thread ^ 1].set();
	}

      private:
	klock::completion_with<Inner> turns[2];
};

template <klock::plain_lock Inner>
struct by_wait_queues {
	template <typename Inside>
	void pass(unsigned thread, Inside inside)
	{
		bool &mine = has_turn[thread];
		bool &its = has_turn[thread ^ 1];

		queues[thread].wait([&] { return std::exchange(mine, false); });
		inside();
		queues[thread ^ 1].wake_one([&] { its = true; });
	}

      private:
	klock::wait_queue_with<Inner> queues[2];
	bool has_turn[2] = {true, false};
};

/* An acquisition is a round trip: of thread 0 until it has the turn again. */
template <typename By>
struct round_trips final : contest {
	void alone(u64) override {}

	void contend(unsigned thread, const load &l, whistle &end,
		     tally &seen) override
	{
		if (thread == 0) {
			over = false; /* a trial that is repeated */
			until(end, l, thread, seen, [&] { by.pass(0, [] {}); });
			by.pass(0, [&] { over = true; });
			return;
		}
		bool last = false;

		seen.start = klock::cycles();
		while (!last)
			by.pass(1, [&] { last = over; });
		seen.end = klock::cycles();
	}

	void observe(unsigned, const load &, whistle &, tally &) override {}

      private:
	By by;
	bool over = false; /* of who has the turn */
};

struct turn_row {
	std::string name;
	std::string beside; /* the peers that it is compared with */
	bool is_peer;
	std::unique_ptr<contest> (*make)();
	std::map<placement, contended> found;
};

template <typename By>
turn_row turns_by(std::string name, const char *beside, bool peer)
{
	return {std::move(name),
		beside,
		peer,
		[]() -> std::unique_ptr<contest> {
			return std::make_unique<round_trips<By>>();
		},
		{}};
}

template <klock::plain_lock Inner>
void add_turns(std::vector<turn_row> &rows, const std::string &kind)
{
	using semaphore =
		klock::bounded_semaphore<klock::semaphore::most, Inner>;

	rows.push_back(turns_by<by_semaphores<semaphore>>("semaphore" + kind,
							  "semaphores", false));
	rows.push_back(turns_by<by_completions<Inner>>("completion" + kind,
						       "semaphores", false));
	rows.push_back(turns_by<by_wait_queues<Inner>>("wait_queue" + kind,
						       "semaphores", false));
	rows.push_back(turns_by<by_condition<klock_monitor<Inner>>>(
		"condition" + kind, "conditions", false));
}

std::vector<turn_row> turn_rows()
{
	std::vector<turn_row> rows;

	add_turns<klock::detail::sleepers_lock>(rows, "");
	add_turns<yielding_lock>(rows, " (hosted)");
	semaphore_peers::for_each([&]<typename Peer>() {
		rows.push_back(turns_by<by_semaphores<typename Peer::type>>(
			Peer::name, "semaphores", true));
	});
	for_each_monitor([&]<typename Peer>() {
		rows.push_back(turns_by<by_condition<typename Peer::type>>(
			Peer::name, "conditions", true));
	});
	return rows;
}

constexpr placement cores_of_turns[] = {placement::one_core,
					placement::own_core};

series microseconds(const contended &found)
{
	series each;

	for (const double rate : found.rate)
		each.push_back(1e6 / rate);
	return each;
}

/* To the peer that is fastest there. */
series to_best_peer(const std::vector<turn_row> &rows, const turn_row &mine,
		    placement where, std::string &best)
{
	series its;

	for (const turn_row &r : rows) {
		const series each = microseconds(r.found.at(where));

		if (r.is_peer && r.beside == mine.beside &&
		    (its.empty() || median(each) < median(its))) {
			its = each;
			best = r.name;
		}
	}
	return ratios(microseconds(mine.found.at(where)), its);
}

} // namespace

void measure_turns(context &c)
{
	std::vector<turn_row> rows = turn_rows();
	std::vector<cells> table;
	csv file(c.file("turns.csv"),
		 {"lock", "cores", "us_median", "us_q1", "us_q3", "to_peer",
		  "to_peer_q1", "to_peer_q3", "rounds"});

	for (unsigned round = 0; round < c.opts.rounds; round++) {
		for (const std::size_t i : shuffled(2 * rows.size(), round)) {
			turn_row &r = rows[i / 2];
			const placement where = cores_of_turns[i % 2];
			contended &found = r.found[where];

			if (where == placement::own_core && c.here.cores < 2)
				continue; /* no second core */
			run_trial(c, *r.make(), {2, 0, 0, where}, watch::no,
				  found);
		}
		progress("a turn to and fro", round + 1, c.opts.rounds);
	}
	for (const turn_row &r : rows) {
		cells line(r.name);

		for (const placement where : cores_of_turns) {
			const unsigned cores = 1 + (where != cores_of_turns[0]);
			const series each = microseconds(r.found.at(where));
			std::string best;
			const series to_peer =
				to_best_peer(rows, r, where, best);

			file.add(cells(r.name)
					 .of(cores)
					 .spread(each, 2)
					 .spread(to_peer, 2)
					 .of(each.size()));
			line.summary(each, 2).of(
				to_peer.empty() ? none
						: fixed(median(to_peer), 2));
			if (!r.is_peer && where == placement::one_core)
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
