/* SPDX-License-Identifier: MIT */
/*
 * Ten pieces of lock-free code as others write it, on <atomic> and plain data,
 * each with a mistake that is made with it: right passes, wrong is found.
 * model_plain [.table] prints what they cost.
 */
#include "verdict.hpp"

#include <model/model.hpp>

#include <catch.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace of_pieces {

namespace {

using enum std::memory_order;
using model::bug;
using model::check;

struct request {
	int from;
	char text[12];
};

/* One puts, one takes; a slot is copied by memcpy(). Wrong: not published. */
template <bool wrong>
struct ring {
	static constexpr unsigned above = __LINE__;
	request slot[2];
	std::atomic<unsigned> head{0}, tail{0};

	bool put(const request &r)
	{
		const unsigned at = head.load(relaxed);

		if (at - tail.load(acquire) == 2)
			return false;
		std::memcpy(&slot[at % 2], &r, sizeof(r));
		head.store(at + 1, wrong ? relaxed : release);
		return true;
	}
	bool take(request &r)
	{
		const unsigned at = tail.load(relaxed);

		if (head.load(acquire) == at)
			return false;
		std::memcpy(&r, &slot[at % 2], sizeof(r));
		tail.store(at + 1, release);
		return true;
	}
	static constexpr unsigned below = __LINE__;

	void cpu(unsigned which)
	{
		request r{0, "hello"};

		for (int i = 1, last = 0; i <= 3; i++) {
			if (!which) {
				r.from = i;
				put(r);
			} else if (take(r)) {
				check(r.from > last && r.text[4] == 'o');
				last = r.from;
			}
		}
	}
	void end() {}
};

/* Many put, one takes: swap the tail, then link. Wrong: the link is relaxed. */
template <bool wrong>
struct producers {
	static constexpr unsigned above = __LINE__;
	struct node {
		std::atomic<node *> next{nullptr};
		int value = 0;
	};
	node first;
	std::atomic<node *> tail{&first};
	node *head = &first; /* the consumer's */

	void put(node &n, int value)
	{
		n.value = value;
		tail.exchange(&n, acq_rel)
			->next.store(&n, wrong ? relaxed : release);
	}
	node *take()
	{
		node *const n = head->next.load(acquire);

		if (n)
			head = n;
		return n;
	}
	static constexpr unsigned below = __LINE__;

	node nodes[2];
	int sum = 0;

	void cpu(unsigned which)
	{
		if (which < 2)
			put(nodes[which], 1 + static_cast<int>(which));
		else if (node *const n = take())
			sum += n->value;
	}
	void end()
	{
		while (node *const n = take())
			sum += n->value;
		check(sum == 3, "each once");
	}
};

/* A struct, copied whole. Wrong: copied as plain data, which is a race. */
template <bool wrong>
struct sequence {
	static constexpr unsigned above = __LINE__;
	struct both {
		int left, right;
	};
	std::atomic<unsigned> count{0};
	std::atomic<int> left{0}, right{0};
	both plain{0, 0};

	void write(both v)
	{
		const unsigned c = count.load(relaxed);

		count.store(c + 1, relaxed);
		std::atomic_thread_fence(release);
		if (wrong)
			plain = v;
		left.store(v.left, relaxed);
		right.store(v.right, relaxed);
		count.store(c + 2, release);
	}
	bool try_read(both &v)
	{
		const unsigned c = count.load(acquire);

		v = {left.load(relaxed), right.load(relaxed)};
		if (wrong)
			v = plain;
		std::atomic_thread_fence(acquire);
		return !(c & 1) && count.load(relaxed) == c;
	}
	static constexpr unsigned below = __LINE__;

	void cpu(unsigned which)
	{
		both v;

		if (!which) {
			write({1, 1});
			write({2, 2});
		} else if (try_read(v)) {
			check(v.left == v.right, "whole");
		}
	}
	void end() {}
};

/* Its owner pushes and takes at the bottom, others steal at the top (Le and
 * others, PPoPP 2013). Wrong: the fence between bottom and top is missing. */
template <bool wrong>
struct deque {
	static constexpr unsigned above = __LINE__;
	std::atomic<int> top{0}, bottom{0}, slot[4] = {};

	void push(int v)
	{
		const int b = bottom.load(relaxed);

		slot[b % 4].store(v, relaxed);
		std::atomic_thread_fence(release);
		bottom.store(b + 1, relaxed);
	}
	int take()
	{
		const int b = bottom.load(relaxed) - 1;
		bottom.store(b, relaxed);
		if (!wrong)
			std::atomic_thread_fence(seq_cst);
		int t = top.load(relaxed), v = 0;

		if (t <= b)
			v = slot[b % 4].load(relaxed);
		if (t < b)
			return v;
		if (t == b &&
		    !top.compare_exchange_strong(t, t + 1, seq_cst, relaxed))
			v = 0;
		bottom.store(b + 1, relaxed);
		return v;
	}
	int steal()
	{
		int t = top.load(acquire);
		std::atomic_thread_fence(seq_cst);
		if (t >= bottom.load(acquire))
			return 0;
		const int v = slot[t % 4].load(relaxed);

		return top.compare_exchange_strong(t, t + 1, seq_cst, relaxed)
			       ? v
			       : 0;
	}
	static constexpr unsigned below = __LINE__;

	int sum[2] = {};

	void cpu(unsigned which)
	{
		if (which) {
			sum[1] = steal();
			sum[1] += steal();
			return;
		}
		push(1);
		push(2);
		sum[0] = take();
		sum[0] += take();
	}
	void end()
	{
		for (int v = take(); v; v = take())
			sum[0] += v;
		check(sum[0] + sum[1] == 3, "each once");
	}
};

/* Nodes of a pool, used again. Wrong: nothing tells an old head from a new. */
template <bool wrong>
struct pool {
	static constexpr unsigned above = __LINE__;
	static constexpr unsigned none = 0xff, turn = wrong ? 0 : 0x100;
	std::atomic<unsigned> head{none}, next[3] = {};

	void push(unsigned node)
	{
		unsigned h = head.load(relaxed);

		do
			next[node].store(h & none, relaxed);
		while (!head.compare_exchange_strong(
			h, ((h & ~none) + turn) | node, release, relaxed));
	}
	unsigned pop()
	{
		unsigned h = head.load(acquire), after;

		do {
			if ((h & none) == none)
				return none;
			after = next[h & none].load(relaxed);
		} while (!head.compare_exchange_strong(
			h, ((h & ~none) + turn) | after, acquire, acquire));
		return h & none;
	}
	static constexpr unsigned below = __LINE__;

	int used[3] = {};

	pool()
	{
		push(1);
		push(0);
	}
	void use(unsigned node)
	{
		used[node]++; /* it is mine: else a race */
		used[node]--;
	}
	void cpu(unsigned which)
	{
		const unsigned a = pop(), b = which ? pop() : none;

		if (a != none)
			use(a);
		if (which && a != none)
			push(a);
		const unsigned c = which ? b : pop();
		if (c != none)
			use(c);
	}
	void end() {}
};

/* Michael, Scott, PODC 1996. Wrong: who takes frees, and others look there. */
template <bool wrong>
struct queue {
	static constexpr unsigned above = __LINE__;
	struct node {
		int value;
		std::atomic<node *> next;
	};
	std::atomic<node *> head, tail;
	node *first;

	static node *made(int value)
	{
		node *const n = static_cast<node *>(std::malloc(sizeof(node)));

		n->value = value;
		new (&n->next) std::atomic<node *>(nullptr);
		return n;
	}
	void put(int value)
	{
		node *const n = made(value);

		for (;;) {
			node *last = tail.load(acquire);
			node *next = last->next.load(acquire);

			if (next) {
				tail.compare_exchange_strong(last, next,
							     release, relaxed);
			} else if (last->next.compare_exchange_strong(
					   next, n, release, relaxed)) {
				tail.compare_exchange_strong(last, n, release,
							     relaxed);
				return;
			}
		}
	}
	int take()
	{
		node *before = head.load(acquire);

		for (;;) {
			node *const n = before->next.load(acquire);
			if (!n)
				return 0;
			if (!head.compare_exchange_strong(before, n, acq_rel,
							  acquire))
				continue;
			const int value = n->value;
			if (wrong)
				std::free(before);
			return value;
		}
	}
	static constexpr unsigned below = __LINE__;

	int sum[2] = {};

	queue() : first(made(0))
	{
		head = tail = first;
		put(1);
	}
	~queue()
	{
		for (node *n = wrong ? head.load() : first; n;) {
			node *const next = n->next;
			std::free(n);
			n = next;
		}
	}
	void cpu(unsigned which)
	{
		if (which)
			put(2);
		sum[which] = take();
	}
	void end()
	{
		sum[0] += take();
		check(sum[0] + sum[1] == 3, "each once");
	}
};

/* Requests on stacks; who has the lock does them all. Wrong: done is relaxed.
 */
template <bool wrong>
struct combining {
	static constexpr unsigned above = __LINE__;
	struct asked {
		asked *next;
		int add, result;
		std::atomic<bool> done;
	};
	std::atomic<asked *> list{nullptr};
	std::atomic<bool> locked{false};
	int total = 0;

	void serve()
	{
		asked *a = list.exchange(nullptr, acquire);

		while (a) {
			asked *const next = a->next; /* it ends with done */
			a->result = total += a->add;
			a->done.store(true, wrong ? relaxed : release);
			a = next;
		}
	}
	int add(int v)
	{
		asked mine{list.load(relaxed), v, 0, false};

		while (!list.compare_exchange_strong(mine.next, &mine, release,
						     relaxed))
			;
		while (!mine.done.load(acquire)) {
			if (locked.exchange(true, acquire))
				continue;
			serve();
			locked.store(false, release);
		}
		return mine.result;
	}
	static constexpr unsigned below = __LINE__;

	void cpu(unsigned which)
	{
		const int v = 1 + static_cast<int>(which), now = add(v);

		check(now == v || now == 3, "its own, or both");
	}
	void end() { check(total == 3); }
};

/*
 * A sleeping lock whose waiters have a node on their stacks. If wrong, unlock()
 * reads a node after its waiter was woken.
 */
template <bool wrong>
struct mutex {
	static constexpr unsigned above = __LINE__;
	struct node {
		node *next = nullptr;
		std::atomic<bool> woken{false};
	};
	std::atomic<bool> guard{false};
	bool taken = false;
	node *first = nullptr;

	void enter()
	{
		while (guard.exchange(true, acquire))
			;
	}
	void leave() { guard.store(false, release); }

	void lock()
	{
		node mine;

		enter();
		const bool waits = taken;
		if (waits) {
			mine.next = first;
			first = &mine;
		}
		taken = true;
		leave();
		if (waits)
			mine.woken.wait(false, acquire);
	}
	void unlock()
	{
		enter();
		node *const n = first;
		if (!n)
			taken = false;
		else if (!wrong)
			first = n->next;
		leave();
		if (!n)
			return;
		n->woken.store(true, release);
		n->woken.notify_one();
		if (wrong)
			first = n->next;
	}
	static constexpr unsigned below = __LINE__;

	int count = 0;

	void cpu(unsigned)
	{
		lock();
		count++;
		unlock();
	}
	void end() { check(count == 2); }
};

/* Readers say that they are in. Wrong: by a store that a load may overtake. */
template <bool wrong>
struct rcu {
	static constexpr unsigned above = __LINE__;
	std::atomic<int *> now{new int(1)};
	std::atomic<bool> in[2] = {};

	int read(unsigned mine)
	{
		in[mine].store(true, relaxed);
		if (!wrong)
			std::atomic_thread_fence(seq_cst);
		const int v = *now.load(acquire);

		in[mine].store(false, release);
		return v;
	}
	void update(int v)
	{
		int *const old = now.exchange(new int(v), acq_rel);

		std::atomic_thread_fence(seq_cst);
		for (auto &reader : in)
			while (reader.load(acquire))
				;
		delete old;
	}
	static constexpr unsigned below = __LINE__;

	~rcu() { delete now; }
	void cpu(unsigned which)
	{
		if (which < 2)
			check(read(which) > 0);
		else
			update(2);
	}
	void end() {}
};

/* Each works at its own, and steals when it has none; at the end the counts of
 * the threads are added. Wrong: a thread_local ends with its thread. */
thread_local int of_this_thread;

template <bool wrong>
struct stealing {
	static constexpr unsigned above = __LINE__;
	std::atomic<int> left[2] = {2, 0};
	std::atomic<int *> counted{nullptr};
	int done[2] = {};

	bool take(std::atomic<int> &from)
	{
		int n = from.load(relaxed);

		while (n > 0)
			if (from.compare_exchange_strong(n, n - 1, acq_rel,
							 relaxed))
				return true;
		return false;
	}
	void work(unsigned me)
	{
		while (take(left[me]) || take(left[1 - me])) {
			of_this_thread++;
			done[me]++;
		}
		check(of_this_thread == done[me], "its own");
		if (!wrong)
			return;
		if (int *const other = counted.exchange(&of_this_thread))
			of_this_thread += *other;
	}
	static constexpr unsigned below = __LINE__;

	void cpu(unsigned which) { work(which); }
	void end() { check(done[0] + done[1] == 2, "each once"); }
};

using clients = std::vector<unsigned>;

template <template <bool> typename Piece, bool wrong>
model::result explored(const clients &cpus)
{
	using world = Piece<wrong>;

	return model::explore<world>(
		{.sections = cpus}, [](world &w, unsigned c) { w.cpu(c); },
		[](world &w) { w.end(); });
}

struct piece {
	const char *name;
	unsigned lines;
	clients cpus;
	bug found; /* in the wrong form */
	model::result (*right)(const clients &), (*wrong)(const clients &);
};

template <template <bool> typename Piece>
piece row(const char *name, const clients &cpus, bug found)
{
	return {name,
		Piece<false>::below - Piece<false>::above - 1,
		cpus,
		found,
		explored<Piece, false>,
		explored<Piece, true>};
}

std::vector<piece> pieces()
{
	const clients two{1, 1}, three{1, 1, 1};

	return {row<ring>("ring, memcpy()", two, bug::data_race),
		row<producers>("many producers", three, bug::data_race),
		row<sequence>("seqlock, a struct", two, bug::data_race),
		row<deque>("Chase-Lev deque", two, bug::failed_check),
		row<pool>("Treiber stack, a pool", two, bug::data_race),
		row<queue>("Michael-Scott, malloc()", two, bug::dead_object),
		row<combining>("flat combining", two, bug::data_race),
		row<mutex>("mutex that sleeps", two, bug::dead_object),
		row<rcu>("RCU", three, bug::dead_object),
		row<stealing>("work stealing", two, bug::dead_object)};
}

} // namespace

TEST_CASE("pieces: the right form passes, the wrong one is found")
{
	for (const piece &p : pieces()) {
		const model::result right = p.right(p.cpus),
				    wrong = p.wrong(p.cpus);

		INFO(p.name << "\n"
			    << right.timeline << right.limit << wrong.timeline);
		verdict::good(right);
		CHECK(wrong.found == p.found);
	}
}

TEST_CASE("table of the pieces", "[.table]")
{
	std::printf("| piece | lines | executions | seconds | wrong form |\n"
		    "|---|---|---|---|---|\n");
	for (const piece &p : pieces()) {
		const model::result right = p.right(p.cpus),
				    wrong = p.wrong(p.cpus);

		std::printf("| %s | %u | %llu | %.3f | %s |\n", p.name, p.lines,
			    static_cast<unsigned long long>(right.complete),
			    right.time, wrong.message.c_str());
	}
}

} // namespace of_pieces
