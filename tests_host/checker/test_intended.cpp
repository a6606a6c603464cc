/* SPDX-License-Identifier: MIT */
/*
 * Races that their authors meant: plain data, and volatile, that the options
 * take as relaxed atomics. What is found behind them.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace of_intended {

namespace {

using enum std::memory_order;
using klock::u64;
using model::bug;

template <typename State, typename... Threads>
model::result run(const model::options &how, Threads... threads)
{
	return model::explore_threads<State>(
		how, [](State &) {}, threads...);
}

bool says(const model::result &r, const char *text)
{
	return r.notes.find(text) != std::string::npos &&
	       r.timeline.find(r.notes) == 0;
}

/* Two counters of one value each, which readers must find alike. */
struct pair {
	int a = 0, b = 0;
};

struct seqlock {
	std::atomic<unsigned> version{0};
	pair data;

	seqlock() { model::name(data, "data"); }

	void write(int v)
	{
		version.store(1, relaxed);
		std::atomic_thread_fence(release);
		data.a = v;
		data.b = v;
		version.store(2, release);
	}
	bool read(pair &to, std::memory_order fence)
	{
		const unsigned before = version.load(acquire);

		to = data;
		std::atomic_thread_fence(fence);
		return version.load(relaxed) == before && !(before & 1);
	}
};

model::result locked(const model::options &how, std::memory_order fence)
{
	return run<seqlock>(
		how, [](seqlock &s) { s.write(7); },
		[fence](seqlock &s) {
			pair got;
			if (s.read(got, fence))
				model::check(got.a == got.b, "torn");
		});
}

} // namespace

TEST_CASE("intended: a seqlock's plain data, and the fault behind the race")
{
	const auto meant = locked({.relaxed = {"data"}}, acquire);
	const auto wrong = locked({.relaxed = {"data"}}, relaxed);
	const auto plain = locked({}, acquire);

	INFO(meant.timeline << wrong.timeline << plain.timeline);
	CHECK(plain.found == bug::data_race);
	CHECK_FALSE(says(plain, "taken as relaxed"));
	verdict::good(meant);
	CHECK(says(meant, "NOTE: taken as relaxed atomics: data\n"));
	CHECK(wrong.found == bug::failed_check);
	CHECK(says(wrong, "NOTE: taken as relaxed atomics: data\n"));
	/* A plain access can have no order, a fence behind it can. */
	CHECK(wrong.cause.find("missing: an acquire fence between rows ") == 0);
	CHECK(plain.cause.find("also under SC: ") == 0);
}

TEST_CASE("intended: a fence has the order that a plain access cannot have")
{
	struct words {
		volatile int data = 0, flag = 0;
	};
	const auto r = run<words>(
		{.relaxed_volatile = true},
		[](words &w) {
			w.data = 1;
			w.flag = 1;
		},
		[](words &w) {
			if (w.flag)
				model::check(w.data == 1);
		});

	INFO(r.timeline);
	CHECK(verdict::without_places(r.cause) ==
	      "missing: a release fence between rows 1 and 2 (@ and @) and an "
	      "acquire fence between rows 3 and 4 (@ and @): impossible under "
	      "SC and on x86");
}

TEST_CASE("intended: lines are named, and what is not met is told")
{
	struct mail {
		int letter = 0, stamp = 0;
		std::atomic<bool> full{false};
	};
	constexpr int first = __LINE__ + 5;
	const auto sent = [](const model::options &how) {
		return run<mail>(
			how,
			[](mail &m) {
				m.letter = 1;
				m.stamp = 2;
			},
			[](mail &m) {
				model::check(m.letter != 2);
				model::check(m.stamp != 1);
			});
	};
	const auto line = [](int at) {
		return "test_intended.cpp:" + std::to_string(first + at);
	};
	const auto all = sent(
		{.relaxed = {line(0), line(1), line(4), "checker/" + line(5)}});
	/* The next race is behind the first. */
	const auto some = sent({.relaxed = {line(0), line(4)}});
	const auto typo = sent({.relaxed = {line(0).substr(5), "lettre"}});
	const auto half = sent({.relaxed = {line(0)}});

	INFO(all.timeline << some.timeline << typo.timeline << half.timeline);
	verdict::right_by(4, all);
	CHECK(some.found == bug::data_race);
	CHECK(some.timeline.find(line(1)) != std::string::npos);
	CHECK(typo.found == bug::data_race);
	CHECK(says(
		typo,
		("but not met: " + line(0).substr(5) + ", lettre\n").c_str()));
	/* One side alone is still at odds with the other, a plain one. */
	CHECK_FALSE(half.ok());
}

/* g++ does not tell of the copy that is returned. */
TEST_CASE("intended: a line that is named copies to a local, which is returned")
{
	static constexpr int line = __LINE__ + 9;
	struct sum {
		pair data;
		std::atomic<unsigned> version{0};

		pair read()
		{
			pair copy;

			copy = data;
			return copy;
		}
	};
	const auto r = run<sum>(
		{.relaxed = {"test_intended.cpp:" + std::to_string(line)}},
		[](sum &s) {
			s.data.a = s.data.b = 1;
			s.version.store(1, release);
		},
		[](sum &s) {
			if (!s.version.load(acquire))
				return;
			const pair got = s.read();

			model::check(got.a == 1 && got.b == 1);
		});

	INFO(r.timeline);
	verdict::right_by(2, r);
}

/* The executions are those of std::atomic's relaxed operations. */
namespace {

template <typename Int>
struct words {
	Int x{0}, y{0}, z{0};
	int saw[4] = {};

	words() { model::name(*this, "words"); }
};

template <typename Int>
struct small {
	const char *name;
	void (*cpu[3])(words<Int> &);
};

template <typename Int>
void idle(words<Int> &)
{
}

template <typename Int, typename W = words<Int>>
const small<Int> programs[] = {
	{"store buffering",
	 {[](W &w) {
		  w.x = 1;
		  w.saw[0] = w.y;
	  },
	  [](W &w) {
		  w.y = 1;
		  w.saw[1] = w.x;
	  },
	  idle<Int>}},
	{"message passing",
	 {[](W &w) {
		  w.x = 1;
		  w.y = 1;
	  },
	  [](W &w) {
		  w.saw[0] = w.y;
		  w.saw[1] = w.x;
	  },
	  idle<Int>}},
	{"coherence",
	 {[](W &w) {
		  w.x = 1;
		  w.x = 2;
	  },
	  [](W &w) {
		  w.saw[0] = w.x;
		  w.saw[1] = w.x;
	  },
	  idle<Int>}},
	{"2 + 2 writes, and who looks",
	 {[](W &w) {
		  w.x = 1;
		  w.y = 2;
	  },
	  [](W &w) {
		  w.y = 1;
		  w.x = 2;
	  },
	  [](W &w) { w.saw[0] = w.x; }}},
	{"the same value again, beside a load",
	 {[](W &w) {
		  w.x = 1;
		  w.x = 0;
		  w.saw[0] = w.y;
	  },
	  [](W &w) {
		  w.y = 1;
		  w.saw[1] = w.x;
	  },
	  idle<Int>}},
	{"a store that changes nothing, and a load the other way round",
	 {[](W &w) {
		  w.x = 0;
		  w.saw[0] = w.y;
	  },
	  [](W &w) {
		  w.saw[1] = w.x;
		  w.y = 1;
	  },
	  idle<Int>}},
	{"read to write, by three",
	 {[](W &w) { w.x = 1; },
	  [](W &w) {
		  w.saw[0] = w.x;
		  w.y = 1;
	  },
	  [](W &w) {
		  w.saw[1] = w.y;
		  w.saw[2] = w.x;
	  }}},
};

template <typename Int>
std::map<std::string, u64> complete()
{
	std::map<std::string, u64> all;

	for (const small<Int> &p : programs<Int>) {
		const auto r = run<words<Int>>({.relaxed = {"words"}}, p.cpu[0],
					       p.cpu[1], p.cpu[2]);

		INFO(p.name);
		verdict::right(r);
		all[p.name] = r.complete;
	}
	return all;
}

/* std::atomic whose operators are relaxed. */
struct atomic_int {
	std::atomic<int> v;

	atomic_int(int i) : v(i) {}
	operator int() const { return v.load(relaxed); }
	void operator=(int i) { v.store(i, relaxed); }
};

} // namespace

TEST_CASE("intended: as many executions as with relaxed atomics")
{
	const auto atomics = complete<atomic_int>();

	CHECK(complete<int>() == atomics);
	CHECK(complete<volatile int>() == atomics);
	CHECK(complete<char>() == atomics);
}

TEST_CASE("intended: volatile flags, as kernels have them")
{
	struct mail {
		int letter = 0;
		volatile int full = 0;
		mail() { model::name(full, "full"); }
	};
	const auto sent = [](bool option, bool fences) {
		return run<mail>(
			{.relaxed_volatile = option},
			[fences](mail &m) {
				m.letter = 1;
				if (fences)
					std::atomic_thread_fence(release);
				m.full = 1;
			},
			[fences](mail &m) {
				while (!m.full)
					;
				if (fences)
					std::atomic_thread_fence(acquire);
				model::check(m.letter == 1);
			});
	};
	const auto right = sent(true, true), wrong = sent(true, false);
	const auto plain = sent(false, true);

	INFO(right.timeline << wrong.timeline << plain.timeline);
	verdict::right_by(1, right);
	CHECK(says(right, "NOTE: taken as relaxed atomics: volatile\n"));
	CHECK(wrong.found == bug::data_race);
	CHECK(wrong.message.find("letter") != std::string::npos);
	CHECK(plain.found == bug::data_race);
	CHECK(says(run<mail>({.relaxed_volatile = true},
			     [](mail &m) { m.letter = 2; }),
		   "but not met: volatile\n"));

	/* Nobody sets it. */
	CHECK(run<mail>({.relaxed_volatile = true}, [](mail &m) {
		      while (!m.full)
			      ;
	      }).found == bug::deadlock);
}

/* Dekker's, by volatile: right on no machine with a store buffer. */
TEST_CASE("intended: volatile orders nothing")
{
	struct door {
		volatile bool wants[2] = {};
		int within = 0;
	};
	const auto enters = [](bool fences) {
		return model::explore<door>(
			{.runs = {1, 1}, .relaxed_volatile = true},
			[fences](door &d, unsigned me) {
				d.wants[me] = true;
				if (fences)
					std::atomic_thread_fence(seq_cst);
				if (!d.wants[1 - me])
					d.within++;
			});
	};

	verdict::good(enters(true));
	CHECK(enters(false).found == bug::data_race);
}

TEST_CASE("intended: an update that is lost")
{
	struct counter {
		volatile int n = 0;
	};
	const auto adds = [](counter &c) {
		const int before = c.n;
		c.n = before + 1;
	};
	const auto r = model::explore_threads<counter>(
		{.relaxed_volatile = true},
		[](counter &c) { model::check(c.n == 2, "both"); }, adds, adds);
	struct stat {
		int n = 0;
		stat() { model::name(n, "n"); }
	};
	const auto increments = [](stat &s) { s.n++; };
	const auto named = model::explore_threads<stat>(
		{.relaxed = {"n"}},
		[](stat &s) { model::check(s.n == 2, "both"); }, increments,
		increments);
	const auto once = model::explore_threads<stat>(
		{.relaxed = {"n"}},
		[](stat &s) { model::check(s.n == 1, "once"); }, increments,
		[](stat &) {});

	INFO(r.timeline << named.timeline);
	CHECK(r.found == bug::failed_check);
	CHECK(named.found == bug::failed_check);
	verdict::right_by(1, once);
}

/* GCC tells of a copy's store before its load, the copy comes after both. */
TEST_CASE("intended: structs and the C library's copies")
{
	struct large {
		pair from{1, 2}, to{3, 4};
		long wide[3] = {5, 6, 7}, copy[3] = {};
		struct {
			unsigned low : 4, high : 4;
		} bits{1, 2};

		large() { model::name(*this, "large"); }
	};
	const auto alone = [](auto does, auto holds) {
		const auto r = model::explore_threads<large>(
			{.relaxed = {"large"}},
			[holds](large &l) { model::check(holds(l)); }, does,
			[](large &l) { l.from.a = 1; });

		INFO(r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(r.complete >= 1);
	};

	alone([](large &l) { l.to = l.from; },
	      [](large &l) { return l.to.a == 1 && l.to.b == 2; });
	alone([](large &l) { std::memcpy(l.copy, l.wide, sizeof(l.copy)); },
	      [](large &l) { return l.copy[0] == 5 && l.copy[2] == 7; });
	alone(
		[](large &l) {
			std::memcpy(l.copy, l.wide, sizeof(l.copy));
			l.to = l.from;
		},
		[](large &l) { return l.copy[2] == 7 && l.to.a == 1; });
	alone([](large &l) { std::memset(l.wide, 0, 16); },
	      [](large &l) { return !l.wide[0] && l.wide[2] == 7; });
	alone(
		[](large &l) {
			l.bits.low = 3;
			l.bits.high = 5;
		},
		[](large &l) { return l.bits.low == 3 && l.bits.high == 5; });
	alone(
		[](large &l) {
			l.to = l.from;
			const pair mine = l.to;
			model::check(mine.a == 1 && mine.b == 2);
			l.from = mine;
			l.from.b = 9;
		},
		[](large &l) { return l.from.a == 1 && l.from.b == 9; });
	const auto text = run<large>({.relaxed = {"large"}}, [](large &l) {
		model::check(std::memcmp(l.wide, l.copy, 8) != 0);
	});
	CHECK(text.message.find("refused: relaxed data as the argument") == 0);
}

/*
 * In one line, none of these is a copy's store and its load: the load stays
 * behind the store, and may read a write that is after it.
 */
TEST_CASE("intended: a store, and a load that does not belong to it")
{
	struct words {
		int x = 0, y = 0;
		char c = 0;
		int saw[2] = {};
		words()
		{
			model::name(x, "x");
			model::name(y, "y");
			model::name(c, "c");
		}
	};
	const auto apart = [](auto store_and_load) {
		return run<words>({.relaxed = {"x", "y", "c"}}, store_and_load,
				  [](words &w) {
					  w.saw[1] = w.x;
					  w.y = 1;
					  w.c = 1;
				  });
	};
	static constexpr int none = 0;
	const auto copied = apart(
		[](words &w) { std::memcpy(&w.x, &none, 4), w.saw[0] = w.y; });
	const auto other_size =
		apart([](words &w) { w.x = 0, w.saw[0] = w.c; });
	const auto changed = apart([](words &w) { w.x = 1, w.saw[0] = w.y; });
	const auto elsewhere = apart([](words &w) {
#line 1 "one.hpp"
		w.x = 0;
#line 1 "other.hpp"
		w.saw[0] = w.y;
	});
#line 473 "test_intended.cpp"

	for (const auto &r : {copied, other_size, changed, elsewhere}) {
		INFO(r.timeline);
		verdict::right_by(4, r);
	}
}

/* A copy of 8 bytes is torn where its halves are stored apart. */
TEST_CASE("intended: a word that others access by halves")
{
	struct both {
		pair p;
		both() { model::name(p, "p"); }
	};
	const auto halves = [](bool may_be_torn) {
		return run<both>(
			{.relaxed = {"p"}},
			[](both &b) {
				b.p = pair{1, 1};
			},
			[may_be_torn](both &b) {
				const pair got = b.p;
				model::check(may_be_torn || got.a == got.b);
			},
			[](both &b) { b.p.b = 1; });
	};

	verdict::good(halves(true));
	CHECK(halves(false).found == bug::failed_check);
}

/* Statics are set back; handlers have statements of their own. */
static volatile int ticks;

TEST_CASE("intended: a static, and a handler that counts")
{
	struct none {
		int seen = 0;
	};
	const model::options how{
		.runs = {1, 1}, .interrupts = 1, .relaxed_volatile = true};
	const auto r = model::explore<none>(
		how,
		[](none &n, unsigned cpu) {
			if (cpu)
				return;
			const int before = ticks;
			n.seen = ticks - before;
			model::check(n.seen == 0 || n.seen == 1 || n.seen == 2);
		},
		[](none &) { model::check(ticks <= 2); },
		[](none &, unsigned) { ticks = ticks + 1; });

	INFO(r.timeline);
	verdict::good(r);
	CHECK(ticks == 0);
}

/* A node on a stack, as in a queue lock. */
TEST_CASE("intended: a flag on a stack")
{
	struct node {
		volatile bool waits;
	};
	struct queue {
		std::atomic<node *> shown{nullptr};
		int data = 0;
	};
	const auto r = run<queue>(
		{.relaxed_volatile = true},
		[](queue &q) {
			node n{true};

			n.waits = true;
			q.shown.store(&n, release);
			while (n.waits)
				;
			std::atomic_thread_fence(acquire);
			model::check(q.data == 1);
			while (q.shown.load(acquire))
				;
		},
		[](queue &q) {
			node *at;
			while (!(at = q.shown.load(acquire)))
				;
			q.data = 1;
			std::atomic_thread_fence(release);
			at->waits = false;
			q.shown.store(nullptr, release);
		});

	INFO(r.timeline);
	verdict::right_by(1, r);
}

/*
 * Three shapes whose authors meant a race. Each order is relaxed once: the
 * fault lies behind the race.
 */
namespace {

/* The fault that is planted; 0: none. */
unsigned planted;

std::memory_order unless(unsigned fault, std::memory_order needed)
{
	return planted == fault ? relaxed : needed;
}

/* One writes twice: a reader has both halves of one writing. */
struct seqlock_of_words {
	static constexpr unsigned faults = 4;
	std::atomic<unsigned> version{0};
	u64 data[2] = {};

	seqlock_of_words() { model::name(data, "meant"); }
	void write(u64 v)
	{
		const unsigned now = version.load(relaxed);

		version.store(now + 1, relaxed);
		std::atomic_thread_fence(unless(1, release));
		data[0] = v;
		data[1] = v;
		version.store(now + 2, unless(2, release));
	}
	void by(unsigned cpu)
	{
		if (cpu == 0) {
			write(1);
			write(2);
			return;
		}
		const unsigned before = version.load(unless(3, acquire));
		const u64 a = data[0], b = data[1];

		std::atomic_thread_fence(unless(4, acquire));
		if (version.load(relaxed) == before && !(before & 1))
			model::check(a == b, "torn");
	}
	void end() {}
};

/*
 * One pushes and pops, the other steals: what it reads may be overwritten
 * before its compare-and-swap fails.
 */
template <int Steals>
struct deque_of_two {
	static constexpr unsigned faults = 4;
	std::atomic<int> top{0}, bottom{0};
	int slot[2] = {};
	int taken[3 + Steals] = {};

	deque_of_two() { model::name(slot, "meant"); }
	void push(int v)
	{
		const int at = bottom.load(relaxed);

		if (at - top.load(acquire) == 2)
			return;
		slot[at % 2] = v;
		std::atomic_thread_fence(unless(1, release));
		bottom.store(at + 1, relaxed);
	}
	int pop()
	{
		const int at = bottom.load(relaxed) - 1;
		int first, got = 0;

		bottom.store(at, relaxed);
		std::atomic_thread_fence(unless(2, seq_cst));
		first = top.load(relaxed);
		if (first <= at)
			got = slot[at % 2];
		if (first < at)
			return got;
		if (first == at && !top.compare_exchange_strong(
					   first, first + 1, seq_cst, relaxed))
			got = 0;
		bottom.store(at + 1, relaxed);
		return got;
	}
	int steal()
	{
		int first = top.load(acquire);

		std::atomic_thread_fence(unless(3, seq_cst));
		if (first >= bottom.load(unless(4, acquire)))
			return 0;
		const int got = slot[first % 2];
		return top.compare_exchange_strong(first, first + 1, seq_cst,
						   relaxed)
			       ? got
			       : 0;
	}
	void by(unsigned cpu)
	{
		if (cpu) {
			for (int i = 0; i < Steals; i++)
				taken[3 + i] = steal();
			return;
		}
		push(1);
		taken[0] = pop();
		push(2);
		push(3);
		taken[1] = pop();
		taken[2] = pop();
	}
	void end()
	{
		int times[4] = {};

		for (const int got : taken)
			times[got]++;
		model::check(times[1] + times[2] + times[3] == 3 &&
				     times[1] <= 1 && times[2] <= 1 &&
				     times[3] <= 1,
			     "each is taken once");
	}
};

/*
 * A stack of indices beside a count, in one word: who pops reads a successor
 * which others may write before its compare-and-swap fails.
 */
struct stack_of_indices {
	static constexpr unsigned faults = 4;
	struct node {
		unsigned next = 0;
		int value = 0;
	} nodes[4];
	std::atomic<u64> head{0}; /* the node; above it, how many popped */
	int had[4] = {};

	stack_of_indices()
	{
		for (node &n : nodes)
			model::name(n.next, "meant");
		push(3);
		push(2);
		push(1);
	}
	void push(unsigned which)
	{
		u64 old = head.load(relaxed), now;

		nodes[which].value++;
		do {
			nodes[which].next = static_cast<unsigned>(old & 3);
			now = (old & ~u64{3}) | which;
		} while (!head.compare_exchange_strong(
			old, now, unless(1, release), relaxed));
	}
	unsigned pop()
	{
		u64 old = head.load(unless(2, acquire)), now;

		do {
			if (!(old & 3))
				return 0;
			now = ((old & ~u64{3}) + (planted == 3 ? 0 : 4)) |
			      nodes[old & 3].next;
		} while (!head.compare_exchange_strong(old, now, relaxed,
						       unless(4, acquire)));
		nodes[old & 3].value++;
		return static_cast<unsigned>(old & 3);
	}
	void by(unsigned cpu)
	{
		if (cpu) {
			had[pop()]++;
			return;
		}
		const unsigned a = pop(), b = pop();

		had[b]++;
		if (a)
			push(a);
	}
	void end()
	{
		for (unsigned n; (n = pop());)
			had[n]++;
		model::check(had[1] == 1 && had[2] == 1 && had[3] == 1,
			     "each is popped once");
	}
};

template <typename Piece>
model::result of_piece(unsigned fault, bool meant)
{
	model::options how{.runs = {1, 1}};

	planted = fault;
	if (meant)
		how.relaxed = {"meant"};
	return model::explore<Piece>(
		how, [](Piece &p, unsigned cpu) { p.by(cpu); },
		[](Piece &p) { p.end(); });
}

/* Each fault is found, but for those that the client does not meet. */
template <typename Piece>
void check_piece(const char *name, std::vector<unsigned> not_met = {})
{
	CHECK(of_piece<Piece>(0, false).found == bug::data_race);
	verdict::good(of_piece<Piece>(0, true));
	for (unsigned fault = 1; fault <= Piece::faults; fault++) {
		const auto r = of_piece<Piece>(fault, true);

		INFO(name << ", fault " << fault << "\n" << r.timeline);
		CHECK(r.ok() ==
		      (std::count(not_met.begin(), not_met.end(), fault) != 0));
		CHECK(says(r, "NOTE: taken as relaxed atomics: meant\n"));
	}
}

} // namespace

TEST_CASE("intended: faults behind the race: seqlock, deque, stack")
{
	check_piece<seqlock_of_words>("seqlock");
	check_piece<deque_of_two<2>>("deque");
	/* Its fences order a second steal alone. */
	check_piece<deque_of_two<1>>("deque, one steal", {2, 3});
	check_piece<stack_of_indices>("stack");
}

} // namespace of_intended
