/* SPDX-License-Identifier: MIT */
/*
 * Plain variables as they are, of which the compiler tells
 * (klock::model_plain): races, memory that is gone, the compiler's own atomics.
 */
#include "foreign/hazard_stack.hpp"
#include "foreign/queue.hpp"
#include "foreign/seqlock.hpp"
#include "foreign/spin_lock.hpp"
#include "foreign/ttas_lock.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <cstring>

namespace of_plain {

namespace {

using enum std::memory_order;
using model::bug;

struct letter {
	int from;
	char text[12];
};

int counted;

template <typename State, typename... Threads>
model::result run(Threads... threads)
{
	return model::explore_threads<State>(
		{}, [](State &) {}, threads...);
}

} // namespace

TEST_CASE("plain: what is published is there, and else it is a race")
{
	struct mail {
		letter l{};
		std::atomic<bool> full{false};
	};
	const auto sent = [](std::memory_order o) {
		return run<mail>(
			[o](mail &m) {
				m.l.from = 1;
				std::memcpy(m.l.text, "hello world", 12);
				m.full.store(true, o);
			},
			[](mail &m) {
				if (m.full.load(acquire)) {
					const letter copy = m.l;
					model::check(copy.from == 1);
					model::check(copy.text[10] == 'd');
				}
			});
	};
	const model::result right = sent(release), wrong = sent(relaxed);

	INFO(right.timeline << wrong.timeline);
	CHECK(right.ok());
	CHECK(right.exhaustive);
	CHECK(right.complete == 2);
	CHECK(wrong.found == bug::data_race);
	CHECK(wrong.timeline.find("BUG: data race with the write by cpu0 at "
				  "test_plain.cpp:") != std::string::npos);
}

/* What a load has that nobody uses; what the C library is called for. */
TEST_CASE("plain: no access is lost on its way")
{
	struct large {
		char bytes[68] = {};
		volatile std::size_t size = 68;
		char other[68] = {};
	};
	const auto races = [](auto access) {
		return run<large>(access, [](large &l) {
			       l.bytes[7] = 'x';
		       }).found == bug::data_race;
	};

	CHECK(races([](large &l) {
		const char unused = l.bytes[7];
		(void)unused;
	}));
	CHECK(races([](large &l) { std::memset(l.bytes, 0, l.size); }));
	CHECK(races([](large &l) { std::memcpy(l.other, l.bytes, l.size); }));
	CHECK(races([](large &l) { std::memcpy(l.bytes, l.other, l.size); }));
	CHECK(races([](large &l) { std::memmove(l.bytes, l.other, l.size); }));
	CHECK(races([](large &l) {
		struct part {
			char bytes[68];
		};
		*reinterpret_cast<part *>(l.bytes) =
			*reinterpret_cast<part *>(l.other);
	}));
	CHECK(races([](large &l) { std::strcpy(l.bytes, "a long text"); }));
	CHECK(races([](large &l) {
		model::check(std::memcmp(l.bytes, l.other, l.size) >= 0);
	}));
	CHECK_FALSE(races([](large &l) { std::strcpy(l.bytes, "short"); }));
	CHECK_FALSE(races([](large &l) { std::memset(l.bytes + 8, 0, 60); }));
}

/* Two fences that order nothing: each CPU may miss what the other stored. */
TEST_CASE("plain: a fence is as strong as it is written")
{
	struct both {
		std::atomic<int> x{0}, y{0};
		int saw[2] = {};
	};
	const auto misses = [](auto fence) {
		unsigned times = 0;

		model::explore_threads<both>(
			{},
			[&times](both &b) {
				times += b.saw[0] == 0 && b.saw[1] == 0;
			},
			[fence](both &b) {
				b.x.store(1, relaxed);
				fence();
				b.saw[0] = b.y.load(relaxed);
			},
			[fence](both &b) {
				b.y.store(1, relaxed);
				fence();
				b.saw[1] = b.x.load(relaxed);
			});
		return times;
	};

	CHECK(misses([] { std::atomic_thread_fence(relaxed); }) == 1);
	CHECK(misses([] { std::atomic_thread_fence(acquire); }) == 1);
	CHECK(misses([] { std::atomic_thread_fence(seq_cst); }) == 0);
	CHECK(misses([] { __atomic_thread_fence(__ATOMIC_RELAXED); }) == 1);
	CHECK(misses([] { __atomic_thread_fence(__ATOMIC_RELEASE); }) == 1);
	CHECK(misses([] { __atomic_thread_fence(__ATOMIC_SEQ_CST); }) == 0);
}

TEST_CASE("plain: a static is one object, and gets its value back")
{
	struct nothing {};
	const auto counts = [](nothing &) { counted++; };

	CHECK(run<nothing>(counts, counts).found == bug::data_race);
	CHECK(counted == 0);
	CHECK(run<nothing>(counts).ok());
	CHECK(counted == 0);
}

/* A byte of a word is the word's. */
TEST_CASE("plain: accesses of other sizes meet")
{
	struct word {
		unsigned v = 0;
	};
	const auto found = run<word>(
		[](word &w) { w.v = 1; },
		[](word &w) { reinterpret_cast<char *>(&w.v)[3] = 2; });
	struct halves {
		short left = 0, right = 0;
	};
	const auto none = run<halves>([](halves &h) { h.left = 1; },
				      [](halves &h) { h.right = 1; });

	CHECK(found.found == bug::data_race);
	INFO(none.timeline);
	CHECK(none.ok());
}

TEST_CASE("plain: memory that was freed")
{
	struct owner {
		std::atomic<int *> p{new int(1)};
	};
	const auto found =
		run<owner>([](owner &o) { delete o.p.exchange(nullptr); },
			   [](owner &o) {
				   if (const int *p = o.p.load())
					   model::check(*p == 1);
			   });

	INFO(found.timeline);
	CHECK(found.found == bug::dead_object);
	CHECK(found.message.find("use of freed memory: made.0") == 0);
}

TEST_CASE("plain: the compiler's atomics are the checker's")
{
	struct words {
		int x = 0, y = 0, r0 = 0, r1 = 0;
	};
	const auto buffered = [](auto left, auto right) {
		return model::explore_threads<words>(
			{}, [](words &w) { model::check(w.r0 || w.r1, "one"); },
			left, right);
	};
	const auto sc = buffered(
		[](words &w) {
			__atomic_store_n(&w.x, 1, __ATOMIC_SEQ_CST);
			w.r0 = __atomic_load_n(&w.y, __ATOMIC_SEQ_CST);
		},
		[](words &w) {
			int none = 0;
			__atomic_compare_exchange_n(&w.y, &none, 1, false,
						    __ATOMIC_SEQ_CST,
						    __ATOMIC_RELAXED);
			w.r1 = __atomic_load_n(&w.x, __ATOMIC_SEQ_CST);
		});
	const auto fenced = [](int o) {
		return [o](words &w) {
			__atomic_fetch_add(&w.x, 1, __ATOMIC_RELAXED);
			o == __ATOMIC_SEQ_CST
				? __atomic_thread_fence(__ATOMIC_SEQ_CST)
				: __atomic_thread_fence(__ATOMIC_ACQ_REL);
			w.r0 = __atomic_load_n(&w.y, __ATOMIC_RELAXED);
		};
	};
	const auto other = [](words &w) {
		__atomic_exchange_n(&w.y, 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		w.r1 = __atomic_load_n(&w.x, __ATOMIC_RELAXED);
	};

	INFO(sc.timeline);
	CHECK(sc.ok());
	CHECK(sc.complete == 3);
	CHECK(buffered(fenced(__ATOMIC_SEQ_CST), other).ok());
	CHECK(buffered(fenced(__ATOMIC_ACQ_REL), other).found ==
	      bug::failed_check);
}

/* What is atomic is in the graphs, what is plain in memory. */
TEST_CASE("plain: an atomic access and a plain one, or one of another size")
{
	struct word {
		unsigned v = 0;
		std::atomic<int> there{0};
	};
	const auto stores = [](word &w) {
		__atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
	};
	const auto both = run<word>(stores, [](word &w) {
		if (__atomic_load_n(&w.v, __ATOMIC_ACQUIRE))
			w.v = 2;
	});
	const auto part = run<word>(stores, [](word &w) {
		(void)__atomic_load_n(reinterpret_cast<char *>(&w.v),
				      __ATOMIC_RELAXED);
	});

	CHECK(both.found != bug::none);
	/* The plain one first, whatever the order of the CPUs. */
	const auto reads = run<word>(
		[](word &w) { w.there.store(static_cast<int>(w.v)); }, stores);

	CHECK(reads.found == bug::mixed_access);
	CHECK(reads.message.find("an atomic access beside a plain one by cpu0 "
				 "at test_plain.cpp:") == 0);
	CHECK(part.found == bug::mixed_access);
	CHECK(part.message.find("an atomic access of another size than one by "
				"cpu0 at test_plain.cpp:") == 0);
	const auto alone =
		run<word>([](word &) {},
			  [](word &w) {
				  __atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
				  w.v = 2;
			  });
	const auto looks = run<word>([](word &w) {
		__atomic_store_n(&w.v, 1u, __ATOMIC_RELAXED);
		w.there.store(static_cast<int>(w.v));
	});

	CHECK(looks.found == bug::mixed_access);
	CHECK(alone.found == bug::mixed_access);
	CHECK(alone.message.find("a plain access beside an atomic one by cpu1 "
				 "at test_plain.cpp:") == 0);
}

TEST_CASE("plain: written before it is there for others, atomic from then on")
{
	struct word {
		unsigned v = 0;
		std::atomic<int> there{0};
	};
	const auto published = [](std::memory_order o) {
		return run<word>(
			[o](word &w) {
				w.v = 5;
				w.there.store(1, o);
			},
			[](word &w) {
				if (w.there.load(std::memory_order_acquire))
					model::check(5 ==
						     __atomic_load_n(
							     &w.v,
							     __ATOMIC_RELAXED));
			});
	};
	const auto right = published(std::memory_order_release);
	const auto wrong = published(std::memory_order_relaxed);

	INFO(right.timeline);
	CHECK(right.ok());
	CHECK(right.complete == 2);
	CHECK(wrong.found == bug::data_race);
}

} // namespace of_plain

namespace of_foreign {

/*
 * Code by somebody who has never heard of klock (foreign/, which includes
 * <atomic> and the like): checked as it is, its plain variables, too.
 * native/test_foreign.cpp runs the same files with threads. And that the
 * checker sees into it: each of its orders that can be missed is reported.
 */

namespace {

using model::check;

struct queues {
	queue<int> q;
	int sum = 0;

	/* In order, as far as one thread sees it; and all that was put in. */
	void cpu(unsigned which)
	{
		if (which < 2) {
			q.push(1 + static_cast<int>(which) * 10);
			q.push(2 + static_cast<int>(which) * 10);
			return;
		}
		int last[2] = {0, 10};
		for (int i = 0; i < 2; i++) {
			if (const auto v = q.pop()) {
				check(*v > last[*v > 10], "in order");
				last[*v > 10] = *v;
				sum += *v;
			}
		}
	}
	void end()
	{
		while (const auto v = q.pop())
			sum += *v;
		check(sum == 26, "each once");
	}
};

struct takers {
	queue<int> q;
	int got[2] = {};

	takers()
	{
		q.push(1);
		q.push(2);
	}
	void cpu(unsigned which) { got[which] = q.pop().value_or(0); }
	void end() { check(got[0] + got[1] == 3, "each once"); }
};

struct sequences {
	seqlock s;
	unsigned seen = 0;

	void cpu(unsigned which)
	{
		pair_of_ints v;

		if (which == 0) {
			s.write({1, 1});
			s.write({2, 2});
			return;
		}
		if (which == 1 && !s.try_read(v))
			return;
		if (which == 2)
			v = s.read();
		check(v.left == v.right, "whole");
	}
	void end() {}
};

/* Whose reader tries until nobody disturbs it. */
struct spinning_reader : sequences {
	void cpu(unsigned which) { sequences::cpu(which ? 2 : 0); }
};

struct spinning {
	ttas_lock l;
	int count = 0;

	void cpu(unsigned)
	{
		l.lock();
		count++;
		l.unlock();
	}
	void end() { check(count == 2, "each has counted"); }
};

struct locks {
	spin_lock l;
	int count = 0;

	void cpu(unsigned which)
	{
		if (which == 2 && !l.try_lock())
			return;
		if (which != 2)
			l.lock();
		count++;
		l.unlock();
	}
	void end() { check(count >= 2, "each has counted"); }
};

struct stacks {
	hazard_stack<int, 2> s;
	int sum[2] = {};

	stacks() { s.push(1); }
	void cpu(unsigned which)
	{
		int v;

		if (which == 0)
			s.push(2);
		while (s.pop(v, which))
			sum[which] += v;
	}
	void end()
	{
		int v;

		while (s.pop(v, 0))
			sum[0] += v;
		check(sum[0] + sum[1] == 3, "each once");
	}
};

template <typename World>
model::result explore(model::options how)
{
	return model::explore<World>(
		how, [](World &w, unsigned which) { w.cpu(which); },
		[](World &w) { w.end(); });
}

/* How many of the weaker orders are reported. */
template <typename World>
unsigned reported(model::options how)
{
	how.record_uses = true;
	const model::result whole = explore<World>(how);
	unsigned found = 0;

	how.record_uses = false;
	for (const model::use &u : whole.uses) {
		for (const model::weakening &w : model::weakenings(u)) {
			how.weaken = w;
			found += !explore<World>(how).ok();
		}
	}
	return found;
}

template <typename World>
void is_right(std::vector<unsigned> cpus, model::u64 least, unsigned needed,
	      unsigned spurious = 0)
{
	const model::options how{.sections = cpus, .spurious = spurious};
	const model::result r = explore<World>(how);

	INFO(r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= least);
	CHECK(reported<World>(how) >= needed);
}

} // namespace

TEST_CASE("foreign: a lock-free queue")
{
	is_right<queues>({1, 1, 1}, 300, 5);
	is_right<takers>({1, 1}, 4, 0, 1);
}

TEST_CASE("foreign: a seqlock") { is_right<sequences>({1, 1}, 50, 4); }

TEST_CASE("foreign: a spin lock") { is_right<locks>({1, 1, 1}, 800, 3); }

/* The loops are the code's own: waits, as they are. */
TEST_CASE("foreign: a lock that spins, a reader that tries again")
{
	is_right<spinning>({1, 1}, 2, 2);
	is_right<spinning_reader>({1, 1}, 3, 4);
}

TEST_CASE("foreign: a stack with hazard pointers")
{
	is_right<stacks>({1, 1}, 900, 6);
}

} // namespace of_foreign
