/* SPDX-License-Identifier: MIT */
/*
 * futex: random programs of futex operations, by real threads, step by step
 * through Linux's futex(2) and through a futex_table: each step has the same
 * result in both, and ends the same waits with the same results.
 *
 * A step is over when each thread sleeps again or has none to do, which
 * /proc/self/task/ID/syscall tells. So nothing depends on time. Linux does not
 * promise in which order it wakes; between threads of one priority it is the
 * order in which they came, as ours, unless two words share a bucket of
 * Linux's, whose requeue then leaves its waiters where they are: such words are
 * not used.
 */
#include <klock/futex.hpp>
#include <klock/host_parking.hpp>

#include "../watchdog.hpp"

#include <catch.hpp>

#if defined(__linux__)

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace klock;

/* An unoptimised program asks for them. */
extern "C" unsigned klock_os_cpu_id(void) { return 0; }
extern "C" void klock_os_panic(const char *, const void *, unsigned,
			       const char *)
{
	std::abort();
}

namespace {

constexpr unsigned threads = 6, words = 4;

/* Results of a wait, as futex(2) has them; of one for several: which. */
constexpr long was_woken = 0;

struct several {
	unsigned first, second;
	u32 values[2];
};

/* An act of a thread or of the test. Words by their number. */
struct step {
	enum kind {
		wait,
		late,
		wait_two,
		wake,
		requeue,
		wake_op,
		store,
		kinds
	} what;
	unsigned thread, word, other;
	u32 value, value_of_other, mask, most, more;
	/* wake_op: FUTEX_OP() */
	u32 op;

	std::string text() const
	{
		static const char *const names[] = {
			"wait",	   "late",    "wait_two", "wake",
			"requeue", "wake_op", "store"};

		char line[160];
		std::snprintf(line, sizeof line,
			      "%s thread %u words %u %u values %u %u mask %x "
			      "most %u more %u op %x\n",
			      names[what], thread, word, other, value,
			      value_of_other, mask, most, more, op);
		return line;
	}
};

using word = std::atomic<u32>;

/* One of the two: the words, and what a step does. */
struct backend {
	virtual ~backend() = default;
	virtual long waits(const step &s) = 0;
	virtual long acts(const step &s) = 0;

	/* 256 candidates, far apart. */
	struct alignas(64) cell {
		word value;
	};
	std::array<cell, 256> cells = {};
	std::array<unsigned, words> chosen = {0, 1, 2, 3};

	word &at(unsigned i) { return cells[chosen[i]].value; }
};

struct by_linux : backend {
	template <typename... With>
	long call(unsigned i, int op, With... with)
	{
		const long result = syscall(SYS_futex, &at(i),
					    op | FUTEX_PRIVATE_FLAG, with...);

		return result < 0 ? -errno : result;
	}
	long waits(const step &s) override
	{
		const timespec past = {1, 0};
		const timespec *const until =
			s.what == step::late ? &past : nullptr;

		if (s.what != step::wait_two)
			return call(s.word, FUTEX_WAIT_BITSET, s.value, until,
				    nullptr, s.mask);
		/* struct futex_waitv, which older headers lack. */
		struct {
			std::uint64_t value, address;
			std::uint32_t flags, reserved;
		} two[2] = {{s.value,
			     reinterpret_cast<std::uintptr_t>(&at(s.word)),
			     2 | FUTEX_PRIVATE_FLAG, 0},
			    {s.value_of_other,
			     reinterpret_cast<std::uintptr_t>(&at(s.other)),
			     2 | FUTEX_PRIVATE_FLAG, 0}};
		const long result = syscall(449, two, 2, 0, nullptr, 0);

		return result < 0 ? -errno : result;
	}
	long acts(const step &s) override
	{
		switch (s.what) {
		case step::wake:
			return call(s.word, FUTEX_WAKE_BITSET, s.most, nullptr,
				    nullptr, s.mask);
		case step::requeue:
			return call(s.word, FUTEX_CMP_REQUEUE, s.most,
				    static_cast<unsigned long>(s.more),
				    &at(s.other), s.value);
		case step::wake_op:
			return call(s.word, FUTEX_WAKE_OP, s.most,
				    static_cast<unsigned long>(s.more),
				    &at(s.other), s.op);
		default:
			at(s.word).store(s.value);
			return 0;
		}
	}
};

/* futex(2) over a table, as a kernel has it. */
struct by_table : backend {
	futex_key key(unsigned i)
	{
		return {1, reinterpret_cast<usize>(&at(i))};
	}
	futex_look look(unsigned i, u32 expected)
	{
		return at(i).load() == expected ? futex_look::same
						: futex_look::changed;
	}
	static long result_of(futex_result why)
	{
		switch (why) {
		case futex_result::woken:
			return was_woken;
		case futex_result::changed:
			return -EAGAIN;
		case futex_result::deadline:
			return -ETIMEDOUT;
		default:
			return -EFAULT;
		}
	}
	long waits(const step &s) override
	{
		const auto of_word = [&] { return look(s.word, s.value); };

		if (s.what == step::wait)
			return result_of(
				table.wait(key(s.word), of_word, s.mask));
		if (s.what == step::late)
			return result_of(table.wait_until(key(s.word), of_word,
							  0, s.mask));
		futex_table<4>::waiter nodes[2];
		const futex_key keys[] = {key(s.word), key(s.other)};
		const futex_of_several got =
			table.wait_any(nodes, keys, 2, [&](u32 i) {
				return i ? look(s.other, s.value_of_other)
					 : of_word();
			});

		return got.why == futex_result::woken ? got.which
						      : result_of(got.why);
	}
	futex_op operate(unsigned i, u32 op)
	{
		const u32 with = op >> 12 & 0xfff, than = op & 0xfff;
		const u32 before = at(i).load();
		const auto old = static_cast<int>(before);
		const auto to = static_cast<int>(than);
		const u32 after[] = {with, before + with, before | with,
				     before & ~with, before ^ with};
		const bool holds[] = {old == to, old != to,
				      old<to, old <= to, old> to, old >= to};

		at(i).store(after[op >> 28]);
		return holds[op >> 24 & 0xf] ? futex_op::wakes_both
					     : futex_op::wakes_one;
	}
	long acts(const step &s) override
	{
		switch (s.what) {
		case step::wake:
			return table.wake(key(s.word), s.most, s.mask);
		case step::requeue: {
			const futex_count got = table.requeue(
				key(s.word), key(s.other), s.most, s.more,
				[&] { return look(s.word, s.value); });

			return got.found == futex_look::same
				       ? long{got.woken} + got.moved
				       : -EAGAIN;
		}
		case step::wake_op:
			return table
				.wake_op(key(s.word), s.most, key(s.other),
					 s.more,
					 [&] { return operate(s.other, s.op); })
				.woken;
		default:
			at(s.word).store(s.value);
			return 0;
		}
	}

	futex_table<4> table;
};

/* A thread that waits where it is told to. */
struct sleeping_thread {
	explicit sleeping_thread(backend &its) : of(its)
	{
		thread = std::thread([this] { works(); });
		while (!id.load())
			std::this_thread::yield();
		call = opened("syscall");
		stat = opened("stat");
	}
	~sleeping_thread()
	{
		start(nullptr);
		thread.join();
		close(commands);
		close(call);
		close(stat);
	}
	sleeping_thread(const sleeping_thread &) = delete;
	sleeping_thread &operator=(const sleeping_thread &) = delete;

	void start(const step *one)
	{
		const std::uint64_t go = 1;

		now = one;
		done.store(false);
		is_busy = true;
		REQUIRE(write(commands, &go, sizeof go) == sizeof go);
	}
	/* Waits until it sleeps, or has ended its wait, which is returned. One
	 * that is late ends. */
	bool settles()
	{
		for (;;) {
			if (done.load()) {
				is_busy = false;
				return true;
			}
			if (now->what != step::late && sleeps())
				return false;
			std::this_thread::yield();
		}
	}
	/* Whether /proc tells. */
	bool is_told_of() const
	{
		char line[8];

		return call >= 0 && pread(call, line, 4, 0) > 0;
	}

	bool is_busy = false;
	long result = 0;

      private:
	/*
	 * In futex(2), in which the host's parking sleeps, too, or in
	 * futex_waitv(2). A thread that is being woken still has its call, but
	 * is not in state S; one that is in S for its next step is done.
	 */
	bool sleeps() const
	{
		char text[512] = {};

		if (pread(call, text, 4, 0) != 4 ||
		    (text != sys_futex && text != std::string("449 ")))
			return false;
		if (pread(stat, text, sizeof text - 1, 0) <= 0)
			return false;
		const char *const name_ends = std::strrchr(text, ')');

		return name_ends && name_ends[2] == 'S' && !done.load();
	}
	int opened(const char *what) const
	{
		const std::string name = "/proc/self/task/" +
					 std::to_string(id.load()) + "/" + what;

		return open(name.c_str(), O_RDONLY | O_CLOEXEC);
	}
	void works()
	{
		id.store(static_cast<int>(syscall(SYS_gettid)));
		for (;;) {
			std::uint64_t go = 0;

			while (read(commands, &go, sizeof go) != sizeof go)
				;
			if (!now)
				return;
			result = of.waits(*now);
			done.store(true);
		}
	}

	const std::string sys_futex =
		(std::to_string(SYS_futex) + " ").substr(0, 4);
	backend &of;
	const step *now = nullptr;
	std::atomic<int> id = 0;
	std::atomic<bool> done = false;
	const int commands = eventfd(0, EFD_CLOEXEC);
	int call = -1, stat = -1;
	std::thread thread;
};

/* A step's result, and the waits that it ended. */
struct outcome {
	long result = 0;
	std::vector<std::pair<unsigned, long>> ended;

	bool operator==(const outcome &) const = default;
	std::string text() const
	{
		std::string line = std::to_string(result) + ", ended:";

		for (const auto &[thread, why] : ended)
			line += " " + std::to_string(thread) + " (" +
				std::to_string(why) + ")";
		return line;
	}
};

struct world {
	explicit world(backend &its) : of(its)
	{
		for (unsigned i = 0; i < threads; i++)
			all.emplace_back(its);
	}

	outcome plays(const step &s)
	{
		outcome came;

		if (s.what <= step::wait_two)
			all[s.thread].start(&s);
		else
			came.result = of.acts(s);
		for (unsigned i = 0; i < threads; i++)
			if (all[i].is_busy && all[i].settles())
				came.ended.emplace_back(i, all[i].result);
		return came;
	}
	bool is_idle(unsigned thread) const { return !all[thread].is_busy; }

	backend &of;
	std::deque<sleeping_thread> all;
};

/* Two words of Linux's that share a bucket: a requeue leaves the order. */
bool share_a_bucket(world &os, unsigned i, unsigned j)
{
	step s = {step::wait, 0, i, j, os.of.at(i).load(), 0, ~0u, 1, 1, 0};
	step t = s;

	(void)os.plays(s);
	t.thread = 1;
	t.word = j;
	t.value = os.of.at(j).load();
	(void)os.plays(t);
	s.what = step::requeue;
	s.most = 0;
	(void)os.plays(s);
	t.what = step::wake;
	const outcome first = os.plays(t);
	(void)os.plays(t);
	return first.ended[0].first == 0;
}

/* Chooses words of which no two do. */
bool choose_words(world &os)
{
	unsigned next = 0;

	for (unsigned i = 0; i < words; i++) {
		bool shares = true;

		while (shares && next < os.of.cells.size()) {
			os.of.chosen[i] = next++;
			shares = false;
			for (unsigned j = 0; j < i && !shares; j++)
				shares = share_a_bucket(os, i, j);
		}
		if (shares)
			return false;
	}
	return true;
}

/* A step that may come next: an idle thread waits, or the test acts. */
step next_step(std::mt19937 &dice, world &now, bool has_waitv)
{
	const auto below = [&](u32 n) { return static_cast<u32>(dice() % n); };
	step s = {static_cast<step::kind>(below(step::kinds)),
		  below(threads),
		  below(words),
		  below(words),
		  0,
		  0,
		  ~0u,
		  1 + below(3),
		  below(4),
		  0};

	if (below(2))
		s.what = step::wait;
	if (s.what == step::wait_two && (!has_waitv || s.word == s.other))
		s.what = step::wait;
	if (s.what <= step::wait_two && !now.is_idle(s.thread))
		s.what = step::wake;
	s.value = now.of.at(s.word).load();
	s.value_of_other = now.of.at(s.other).load();
	/* Now and then it is another by now. */
	if (below(8) == 0)
		s.value++;
	if (below(8) == 0)
		s.value_of_other++;
	if (s.what == step::store)
		s.value = below(4);
	if (s.what == step::requeue)
		s.most = below(3);
	/* Linux wakes one where none is asked for. */
	if (s.what == step::wake_op)
		s.more++;
	if (below(3) == 0)
		s.mask = 1 + below(7);
	s.op = below(5) << 28 | below(6) << 24 | below(4) << 12 | below(4);
	return s;
}

void forget_which(outcome &of)
{
	for (auto &[thread, why] : of.ended)
		if (why > 0)
			why = was_woken;
}

struct differential {
	u64 programs = 0, steps = 0, waits_ended = 0;
	std::string wrong;
};

/* One program, of a seed. Returns false if the two disagree. */
bool agrees(world &os, world &table, unsigned seed, bool has_waitv,
	    differential &all)
{
	std::mt19937 dice(seed);
	std::string so_far;
	/* A thread that waits reads its step. */
	std::deque<step> program;

	for (unsigned i = 0; i < words; i++)
		os.of.at(i) = 0, table.of.at(i) = 0;
	const auto same = [&](const step &s) {
		program.push_back(s);
		outcome wanted = os.plays(program.back());
		outcome got = table.plays(program.back());

		watchdog::step();
		all.steps++;
		all.waits_ended += wanted.ended.size();
		so_far += s.text();
		/* If a thread may have been told of both keys, Linux says one
		 * of them. */
		if (s.what != step::wake ||
		    wanted.result != static_cast<long>(wanted.ended.size()))
			forget_which(wanted), forget_which(got);
		for (unsigned i = 0; i < words; i++)
			if (os.of.at(i) != table.of.at(i))
				got.result = ~0;
		if (wanted == got)
			return true;
		all.wrong = "seed " + std::to_string(seed) + "\n" + so_far +
			    "Linux: " + wanted.text() +
			    "\ntable: " + got.text();
		return false;
	};

	all.programs++;
	for (unsigned i = 0; i < 40; i++)
		if (!same(next_step(dice, os, has_waitv)))
			return false;
	for (unsigned i = 0; i < words; i++)
		if (!same({step::wake, 0, i, i, 0, 0, ~0u, ~0u >> 1, 0, 0}))
			return false;
	return true;
}

/* Random programs through both. */
differential compare(unsigned programs)
{
	by_linux os;
	by_table table;
	world of_linux(os), of_table(table);
	const bool has_waitv =
		syscall(449, nullptr, 0, 0, nullptr, 0) < 0 && errno == EINVAL;
	differential all;

	if (!of_linux.all[0].is_told_of()) {
		WARN("/proc does not tell who sleeps: not compared");
		return all;
	}
	if (!choose_words(of_linux)) {
		WARN("all words share a bucket: not compared");
		return all;
	}
	/* A thread that still waits after a disagreement would never end. */
	for (unsigned seed = 1; seed <= programs; seed++)
		if (!agrees(of_linux, of_table, seed, has_waitv, all)) {
			std::puts(all.wrong.c_str());
			std::fflush(stdout);
			_exit(1);
		}
	std::printf("futex: %llu programs, %llu steps, %llu waits ended, with "
		    "waitv: %d, 0 disagreements\n",
		    static_cast<unsigned long long>(all.programs),
		    static_cast<unsigned long long>(all.steps),
		    static_cast<unsigned long long>(all.waits_ended),
		    has_waitv);
	return all;
}

} // namespace

TEST_CASE("futex: as Linux's futex(2)") { CHECK(compare(200).wrong == ""); }

TEST_CASE("futex: as Linux's futex(2), some thousand programs", "[deep]")
{
	CHECK(compare(5000).wrong == "");
}

#endif
