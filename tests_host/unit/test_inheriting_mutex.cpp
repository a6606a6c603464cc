/* SPDX-License-Identifier: MIT */
/*
 * inheriting_mutex: on one CPU with a scheduler of priorities. Each thread is a
 * fiber; the runnable one with the highest priority runs, from one step() to
 * the next.
 */
#include <klock/checked_lock.hpp>
#include <klock/condition.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/order_calls.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/print_held.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/synchronized.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/too_long.hpp>

#include "line.hpp"
#include "order_kernel.hpp"
#include "pretended_kernel.hpp"
#include "stepper.hpp"

#include <fiber/fiber.hpp>

#include <catch.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace klock;
using namespace unit;

namespace {

struct kernel;
kernel *now;

std::function<void()> when_requeued;

/* A change of it moves the thread in the run queue. */
struct queue_priority {
	queue_priority(u32 first) : now(first) {}
	void operator=(u32 to)
	{
		now = to;
		if (when_requeued)
			when_requeued();
	}
	operator u32() const { return now; }

      private:
	u32 now;
};

/* A thread: what klock keeps is a base of the kernel's own. */
struct thread : inheriting_thread {
	thread(u32 priority, std::function<void()> what)
	    : inheriting_thread(priority), runs_with(priority), code(what)
	{
		stack.start(
			[](void *me) {
				auto &self = *static_cast<thread *>(me);

				self.code();
				self.state = ended;
			},
			this);
	}

	enum { runnable, asleep, ended } state = runnable;
	bool permit = false, timed = false, wait_ends = false;
	queue_priority runs_with;
	std::function<void()> code;
	fiber stack{256 * 1024};
};

struct kernel {
	kernel() { now = this; }
	~kernel() { now = nullptr; }

	thread &start(u32 priority, std::function<void()> code)
	{
		all.emplace_back(priority, code);
		return all.back();
	}

	/* One step of the most urgent, or of the one that is to come; false:
	 * nobody can run. */
	bool step()
	{
		thread *next = to_come ? to_come : most_urgent();

		to_come = nullptr;
		if (!next)
			return false;
		current = next;
		next->stack.resume();
		current = nullptr;
		steps++;
		return true;
	}
	thread *most_urgent()
	{
		thread *next = nullptr;

		for (thread &one : all)
			if (one.state == thread::runnable &&
			    (!next || one.runs_with > next->runs_with))
				next = &one;
		return next;
	}
	void run()
	{
		while (step() && steps < 1000)
			;
	}

	std::deque<thread> all;
	thread *current = nullptr, *to_come = nullptr;
	unsigned steps = 0;
};

/* The thread outside of all fibers. */
thread outside(1, [] {});

thread &current() { return now && now->current ? *now->current : outside; }

/* A moment of work, after which a more urgent one may run. */
void work(unsigned moments = 1)
{
	for (; moments; moments--)
		fiber::suspend();
}

/* Code of that thread, outside of its fiber. */
template <typename Code>
void as_thread(kernel &cpu, thread &one, Code code)
{
	thread *const before = cpu.current;

	cpu.current = &one;
	code();
	cpu.current = before;
}

/* That one has a step, whatever its priority. */
void lets(thread &one)
{
	now->to_come = &one;
	work();
}

const char *name(wait_result why)
{
	constexpr const char *names[] = {"had", "deadline", "killed",
					 "deadlock", "too deep"};

	return names[static_cast<int>(why)];
}

} // namespace

extern "C" usize klock_os_thread(void)
{
	return reinterpret_cast<usize>(&current());
}

extern "C" inheriting_thread *klock_os_inheriting_thread(void)
{
	return &current();
}

extern "C" void klock_os_run_with_priority(inheriting_thread *one, unsigned to)
{
	CHECK_FALSE(irqs_enabled());
	static_cast<thread *>(one)->runs_with = to;
}

extern "C" bool klock_os_park_until(u64 deadline)
{
	thread &me = current();

	CHECK(irqs_enabled());
	REQUIRE(&me != &outside);
	me.timed = deadline != ~u64{0};
	while (!me.permit && !me.wait_ends &&
	       !(me.timed && cycles() >= deadline)) {
		me.state = thread::asleep;
		fiber::suspend();
	}
	me.permit = false;
	return !me.wait_ends && !(me.timed && cycles() >= deadline);
}

extern "C" void klock_os_park(void) { (void)klock_os_park_until(~u64{0}); }

extern "C" void klock_os_unpark(usize handle)
{
	auto &one = *reinterpret_cast<thread *>(handle);

	CHECK_FALSE(irqs_enabled());
	one.permit = true;
	one.state = thread::runnable;
}

extern "C" void klock_os_unparked(void) {}

/* kill(), or a timer that sees the deadline. */
static void wake(thread &one, bool ends)
{
	one.wait_ends |= ends;
	one.state = thread::runnable;
}

/*
 * The schedule that reset Mars Pathfinder in 1997. Returns how many moments
 * pass until the bus's thread is through.
 */
template <typename Mutex>
static unsigned moments_on_mars(unsigned of_communications)
{
	static Mutex bus;
	kernel cpu;
	unsigned moments = 0;

	const auto manages_bus = [&] {
		guard held(bus);

		moments = cpu.steps;
	};
	const auto communicates = [&] { work(of_communications); };
	const auto gathers_weather = [&] {
		guard held(bus);

		cpu.start(3, manages_bus);
		cpu.start(2, communicates);
		work(3);
	};

	cpu.start(1, gathers_weather);
	cpu.run();
	return moments;
}

TEST_CASE("inheriting_mutex: the classic inversion ends in bounded time")
{
	const auto lent = moments_on_mars<inheriting_mutex>;
	const auto waited = moments_on_mars<mutex>;

	CHECK(lent(0) == lent(500));
	CHECK(waited(0) + 500 <= waited(500));
}

TEST_CASE("inheriting_mutex: sizes, and what zero bytes are")
{
	static_assert(sizeof(inheriting_mutex) == 3 * sizeof(void *));
	static_assert(sizeof(inheriting_thread) == 8 + 4 * sizeof(void *));
	static_assert(sizeof(klock::detail::lender) == 6 * sizeof(void *));

	static constinit inheriting_mutex m;
	static constinit inheriting_thread of_zero;

	CHECK((all_zero(m) && all_zero(of_zero)));
	m.lock();
	CHECK(m.is_locked());
	CHECK_FALSE((m.is_contended() || m.owner_died() || m.try_lock()));
	m.unlock();
	CHECK(all_zero(m));
}

TEST_CASE("inheriting_mutex: in turn: the highest first, then as they came")
{
	static inheriting_mutex m;
	kernel cpu;
	std::string order;
	const auto waits = [&](const char *name) {
		return [&, name] {
			const guard held(m);

			order += name;
			CHECK_FALSE(m.owner_died());
		};
	};

	cpu.start(1, [&] {
		m.lock();
		lets(cpu.start(2, waits("a")));
		lets(cpu.start(3, waits("b")));
		lets(cpu.start(4, waits("c")));
		lets(cpu.start(3, waits("d")));
		CHECK(m.is_contended());
		m.unlock();
	});
	cpu.run();
	CHECK(order == "cbda");
	CHECK(all_zero(m));
}

namespace {

inheriting_mutex a, b;

/* Thread 0, of priority 1, holds a; thread 1, of 2, holds b and waits for a;
 * more threads come when thread 0 calls next(). */
struct chain : kernel {
	explicit chain(std::function<void(chain &)> then)
	{
		start(1, [this, then] {
			a.lock();
			start(2, [this] {
				b.lock();
				outcome = a.lock_until(~u64{0});
				if (outcome == wait_result::had)
					a.unlock();
				b.unlock();
			});
			work();
			then(*this);
			a.unlock();
		});
		run();
		for (const thread &one : all) {
			CHECK(one.state == thread::ended);
			CHECK(one.runs_with == one.base.get());
			CHECK(one.lent.get() == one.base.get());
		}
		CHECK((all_zero(a) && all_zero(b)));
	}

	/* With what each thread runs, in their order. */
	std::string priorities() const
	{
		std::string of;

		for (const thread &one : all)
			of += std::to_string(one.runs_with);
		return of;
	}
	thread &waits(u32 priority, inheriting_mutex &for_it)
	{
		thread &one = start(priority, [&for_it] {
			if (for_it.try_lock_until(~u64{0}))
				for_it.unlock();
		});

		lets(one);
		return one;
	}

	wait_result outcome{};
};

} // namespace

TEST_CASE("inheriting_mutex: a chain: each runs with the highest behind it")
{
	chain([](chain &cpu) {
		CHECK(cpu.priorities() == "22");
		thread &hasty = cpu.waits(5, b);

		CHECK(cpu.priorities() == "555");
		wake(hasty, true);
		lets(hasty);
		CHECK(cpu.priorities() == "225");
		cpu.waits(3, b);
		CHECK(cpu.priorities() == "3353");
		cpu.waits(4, a);
		CHECK(cpu.priorities() == "43534");
	});
}

/* Not moved, it would be behind the one of priority 3. */
TEST_CASE("inheriting_mutex: a chain moves a waiter whose loan grows")
{
	std::string order;

	chain([&](chain &cpu) {
		cpu.start(3, [&] {
			const guard held(a);

			order += "a";
		});
		work();
		cpu.start(4, [&] {
			const guard held(b);

			order += "b";
		});
		work();
		CHECK(cpu.priorities() == "4434");
	});
	CHECK(order == "ba");
}

TEST_CASE("inheriting_mutex: a kill ends the wait, and the loan")
{
	const chain cpu([](chain &with) {
		wake(with.all[1], true);
		CHECK(with.priorities() == "22");
		lets(with.all[1]);
		CHECK(with.priorities() == "12");
	});

	CHECK(cpu.outcome == wait_result::killed);
}

TEST_CASE("inheriting_mutex: a deadline ends the wait, and the loan")
{
	wait_result why{};

	chain([&](chain &cpu) {
		thread &late =
			cpu.start(6, [&] { why = a.lock_until(cycles() + 1); });

		lets(late);
		while (late.state != thread::ended) {
			wake(late, false);
			lets(late);
		}
		CHECK(cpu.priorities() == "226");
	});
	CHECK(name(why) == std::string("deadline"));
}

TEST_CASE("inheriting_mutex: priority_changed: up and down, along a chain")
{
	chain([](chain &cpu) {
		thread &high = cpu.waits(3, b);

		priority_changed(high, 7);
		CHECK(cpu.priorities() == "777");
		priority_changed(high, 0);
		CHECK(cpu.priorities() == "220");
		priority_changed(cpu.all[0], 9);
		CHECK(cpu.priorities() == "920");
		priority_changed(high, 3);
		CHECK(cpu.priorities() == "933");
	});
}

TEST_CASE("inheriting_mutex: thread_ends: names what it holds, and hands over")
{
	static inheriting_mutex nobody_waits;
	kernel cpu;
	std::vector<const void *> named;
	bool told[2] = {}, again = true;

	cpu.start(1, [&] {
		a.lock();
		nobody_waits.lock();
		cpu.start(5, [&] {
			const guard held(a);

			told[0] = a.owner_died();
		});
		work();
		lets(cpu.start(5, [&] {
			const guard held(a);

			CHECK_FALSE(a.owner_died());
		}));
		thread_ends(current(), false,
			    [&](const void *at) { named.push_back(at); });
		CHECK(current().runs_with == 5);
		thread_ends(current(), true,
			    [&](const void *at) { named.push_back(at); });
		CHECK(current().runs_with == 1);
	});
	cpu.start(1, [&] {
		work();
		{
			const guard held(nobody_waits);

			told[1] = nobody_waits.owner_died();
		}
		const guard held(nobody_waits);

		again = nobody_waits.owner_died();
	});
	cpu.run();
	CHECK(named == std::vector<const void *>{&a, &a});
	CHECK((told[0] && told[1]));
	CHECK_FALSE(again);
	CHECK((all_zero(a) && all_zero(nobody_waits)));
}

TEST_CASE("inheriting_mutex: a deadlock is refused, and shows each link")
{
	std::string panic;
	std::vector<std::pair<const void *, const void *>> links;

	chain([&](chain &cpu) {
		const auto link = [&](const inheriting_thread &waits,
				      const void *wanted) {
			links.emplace_back(&waits, wanted);
		};

		CHECK(b.lock_until(~u64{0}, link) == wait_result::deadlock);
		CHECK(links ==
		      decltype(links){{&cpu.all[0], &b}, {&cpu.all[1], &a}});
		panic = panic_of([] { b.lock(); });
		links.clear();
		CHECK(a.lock_until(0, link) == wait_result::deadlock);
		CHECK(links == decltype(links){{&cpu.all[0], &a}});
		CHECK(cpu.priorities() == "22");
	});
	has(panic, "deadlock; thread 0x");
	has(panic, " waits for 0x");
}

namespace {

struct short_chains {
	static constexpr u32 max_chain = 3;
	static inline constinit ticket_lock<u8> lock;
};

} // namespace

/* Thread i holds mutex i, and, once it is woken, waits for the next one. */
TEST_CASE("inheriting_mutex: a chain that is too deep is refused")
{
	using mutex = inheriting_mutex_in<short_chains>;
	static mutex all[6];
	std::string ended;
	kernel cpu;
	const bool last_first = GENERATE(true, false);
	const auto waits_for = [&](unsigned i) {
		const wait_result why = all[i].lock_until(~u64{0});

		ended += name(why)[0];
		if (why == wait_result::had)
			all[i].unlock();
		else
			ended += std::to_string(i);
	};
	const auto goes_on = [&](unsigned i) {
		cpu.all[i].state = thread::runnable;
		cpu.run();
	};

	for (unsigned i = 0; i < 5; i++)
		cpu.start(1, [&, i] {
			all[i].lock();
			current().state = thread::asleep;
			fiber::suspend();
			waits_for(i + 1);
			all[i].unlock();
		});
	cpu.run();
	all[5].lock();
	/* The tree has other branches, shorter ones. */
	for (unsigned i : {0, 2, 2, 0})
		cpu.start(1, [&, i] { waits_for(i); });
	cpu.run();
	for (unsigned i = 0; i < 5; i++)
		goes_on(last_first ? 4 - i : i);
	/* Thread 2, in either order: three behind it, or before. */
	CHECK(ended == "t3hhhhhh");
	all[5].unlock();
	cpu.run();
	CHECK(ended == "t3hhhhhhhh");
	CHECK(all_zero(all));
}

/* Three threads wait for the root, and one waits for each of them. */
TEST_CASE("inheriting_mutex: a chain is as long as its longest branch")
{
	using mutex = inheriting_mutex_in<short_chains>;
	static mutex root, branches[3], next;
	kernel cpu;
	wait_result why{};
	const auto takes = [](mutex &one) { const guard held(one); };

	cpu.start(1, [&] {
		root.lock();
		for (mutex &one : branches) {
			lets(cpu.start(1, [&] {
				const guard held(one);

				takes(root);
			}));
			lets(cpu.start(1, [&] { takes(one); }));
		}
		lets(cpu.start(0, [&] {
			const guard held(next);

			work();
		}));
		why = next.lock_until(~u64{0});
		if (why == wait_result::had)
			next.unlock();
		root.unlock();
	});
	cpu.run();
	CHECK(name(why) == std::string("had"));
	CHECK((all_zero(root) && all_zero(branches) && all_zero(next)));
}

TEST_CASE("inheriting_mutex: a thread of another domain is named")
{
	static inheriting_mutex_in<short_chains> other;
	const auto takes = [] { other.lock(); };
	std::string said[5];

	/* Thread 0 is waited for in the usual domain, thread 1 waits there. */
	chain([&](chain &cpu) {
		takes();
		lets(cpu.start(1, [&] { said[0] = panic_of(takes); }));
		said[1] = panic_of(takes);
		said[2] = panic_of([] { other.unlock(); });
		said[3] = panic_of(
			[] { priority_changed<short_chains>(current(), 1); });
		said[4] = panic_of([] {
			thread_ends<short_chains>(current(), true,
						  [](const void *) {});
		});
	});
	for (const std::string &one : said)
		has(one, "another domain");
}

TEST_CASE("inheriting_mutex: unlock() by another is named")
{
	has(panic_of([] { a.unlock(); }), "does not hold it");
	a.lock();
	kernel cpu;
	std::string panic;

	cpu.start(1, [&] { panic = panic_of([] { a.unlock(); }); });
	cpu.run();
	has(panic, "inheriting_mutex");
	now = nullptr;
	a.unlock();
	CHECK(all_zero(a));
}

/* A wait lets go of it, and with it of what waiters lent. */
TEST_CASE("inheriting_mutex: condition: a wait gives the loan back")
{
	static condition changed;
	kernel cpu;
	bool ready = false;
	std::string order;

	cpu.start(1, [&] {
		guard held(a);

		lets(cpu.start(5, [&] {
			const guard too(a);

			CHECK(cpu.all[0].runs_with == 1);
			ready = true;
			changed.notify_one();
			order += "5";
		}));
		CHECK(current().runs_with == 5);
		changed.wait(held, [&] { return ready; });
		order += "1";
	});
	cpu.run();
	CHECK(order == "51");
	CHECK(all_zero(a));
}

/* The locks around it: each as a low thread has it and a high one waits. */
template <typename Lock>
static void lends_in(Lock &lock, wait_result ends)
{
	kernel cpu;
	std::vector<wait_result> whys;

	cpu.start(1, [&] {
		guard held(lock);
		thread &high = cpu.start(5, [&] {
			const wait_result why = lock.lock_until(~u64{0});

			whys.push_back(why);
			if (why == wait_result::had)
				lock.unlock();
		});

		lets(high);
		CHECK(current().runs_with == 5);
		if (ends == wait_result::had)
			return;
		wake(high, true);
		lets(high);
		CHECK(current().runs_with == 1);
	});
	cpu.run();
	CHECK(whys == std::vector{ends});
	CHECK_FALSE(lock.is_locked());
	CHECK_FALSE(lock.owner_died());
}

TEST_CASE("inheriting_mutex: checked and counted, it lends and says why")
{
	static checked_lock<inheriting_mutex, "bus"> checked;
	static counted_lock<inheriting_mutex, "bus"> counted;
	static checked_lock<counted_lock<inheriting_mutex>> both;

	checked.lock();
	both.lock();
	CHECK((checked.is_owned_by_me() && both.is_owned_by_me()));
	CHECK_FALSE(counted.is_owned_by_me());
	checked.unlock();
	both.unlock();
	for (wait_result ends : {wait_result::had, wait_result::killed}) {
		lends_in(checked, ends);
		lends_in(counted, ends);
		lends_in(both, ends);
	}
}

TEST_CASE("inheriting_mutex: checked: a handler that tries it is named")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	kernel cpu;
	std::string said;

	cpu.start(1, [&] {
		as(0, context::interrupt,
		   [&] { said = panic_of([] { (void)bus.try_lock(); }); });
	});
	cpu.run();
	has(said, "taken in an interrupt handler");
}

TEST_CASE("inheriting_mutex: checked: an owner that ended is no second one")
{
	static checked_lock<inheriting_mutex> bus;
	kernel cpu;
	std::string said;
	bool told = false;
	const auto takes = [&] {
		bus.lock();
		told = bus.owner_died();
		bus.unlock();
	};

	cpu.start(1, [&] {
		bus.lock();
		lets(cpu.start(5, [&] { said = panic_of(takes); }));
		thread_ends(current(), true, [](const void *) {});
	});
	cpu.run();
	CHECK((told && said.empty()));
	cpu.start(1, [&] { said = panic_of(takes); });
	cpu.run();
	CHECK(said.empty());
	CHECK_FALSE((told || bus.is_locked()));
}

TEST_CASE("inheriting_mutex: checked: recursion, order, who holds it")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	static checked_lock<inheriting_mutex, "log"> log;
	const new_order fresh;
	kernel cpu;
	std::string again, order, lines;

	cpu.start(1, [&] {
		bus.lock();
		again = panic_of([] { bus.lock(); });
		lets(cpu.start(5, [] {
			const guard held(bus);
			const guard inner(log);
		}));
		print_held([&](const char *line) { lines += line; });
		bus.unlock();
		work();
		const guard held(log);

		order = panic_of([] { bus.lock(); });
	});
	cpu.run();
	has(again, "bus, CPU 0: ");
	has(lines, " holds bus (");
	has(lines, " sleeps on bus (");
	has(order, "log");
}

namespace {
/* A scheduler's lock, which it takes when a priority changes. */
struct domain_world {
	checked_lock<inheriting_mutex, "bus"> bus;
	checked_lock<inheriting_mutex, "disk"> disk;
	checked_lock<ticket_lock<u8>, "run queue"> run_queue;
	std::string said;

	void requeue() { irq_guard held(run_queue); }
};

using domain_part = void (*)(domain_world &);
const char *const domain = "inheriting_mutex (inner)";

/* Code that runs with the domain's lock held, in each verb, takes the run
 * queue. */
template <domain_part Call>
void requeues(domain_world &of)
{
	when_requeued = [&] { of.requeue(); };
	Call(of);
	when_requeued = nullptr;
}
void lends(domain_world &of)
{
	of.bus.lock();
	lets(now->start(5,
			[&] { of.said += panic_of([&] { of.bus.lock(); }); }));
}
void hands_over(domain_world &of)
{
	const auto requeue = when_requeued;

	when_requeued = nullptr;
	lends(of);
	when_requeued = requeue;
	of.bus.unlock();
}
void changes_priority(domain_world &) { priority_changed(current(), 3); }
void ends(domain_world &of)
{
	const auto requeue = when_requeued;

	when_requeued = nullptr;
	lends(of);
	thread_ends(current(), false, [&](const void *) {
		if (requeue)
			requeue();
	});
}
/* Releases another mutex, to which nothing happens with its domain's lock held.
 */
void unlocks(domain_world &of)
{
	of.disk.lock();
	irq_guard held(of.run_queue);
	of.disk.unlock();
}
void changes_priority_in_queue(domain_world &of)
{
	irq_guard held(of.run_queue);
	changes_priority(of);
}
void ends_in_queue(domain_world &of)
{
	irq_guard held(of.run_queue);
	thread_ends(current(), false, [](const void *) {});
}
void locks_in_queue(domain_world &of)
{
	guard held(of.run_queue);
	of.disk.lock();
}

/* The panic of two parts, one after another, each in a thread. */
std::string in_domain(domain_part first, domain_part second)
{
	const new_order fresh;
	domain_world of;
	kernel cpu;

	for (domain_part part : {first, second}) {
		cpu.start(1, [&] { of.said += panic_of([&] { part(of); }); });
		cpu.run();
		when_requeued = nullptr;
	}
	return of.said;
}

constexpr domain_part under_domain[] = {requeues<lends>, requeues<hands_over>,
					requeues<changes_priority>,
					requeues<ends>};
constexpr domain_part under_queue[] = {unlocks, changes_priority_in_queue,
				       ends_in_queue};
} // namespace

/* All mutexes of a domain have one lock inside, and it has an order. */
TEST_CASE("inheriting_mutex: checked: the scheduler's lock and the domain's")
{
	const std::string inner = domain;

	for (const domain_part &outer : under_domain) {
		INFO("under the domain's lock: " << &outer - under_domain);
		for (const domain_part &wrong : under_queue) {
			INFO("under the scheduler's: " << &wrong - under_queue);
			has(in_domain(outer, wrong),
			    inner + ", CPU 0: lock order: run queue (" +
				    shown(__FILE__));
			has(in_domain(wrong, outer),
			    "run queue, CPU 0: lock order: " + inner + " (" +
				    shown(__FILE__));
		}
		CHECK(in_domain(outer, outer) == "");
	}
	for (domain_part wrong : under_queue)
		CHECK(in_domain(wrong, wrong) == "");
	has(in_domain(requeues<lends>, locks_in_queue),
	    "disk, CPU 0: may sleep, but the caller holds a spinlock");
}

/* Two threads, each with one of two mutexes, and the second wants both. */
template <typename Mutex, typename Second>
static void in_a_deadlock(Mutex &first, Mutex &second, Second wants_first)
{
	kernel cpu;

	cpu.start(1, [&] {
		first.lock();
		lets(cpu.start(2, [&] {
			second.lock();
			first.lock();
			first.unlock();
			second.unlock();
		}));
		wants_first();
		first.unlock();
	});
	cpu.run();
}

static std::string hex(const void *address)
{
	return klock::bounded_text<24>()
		.add_hex(reinterpret_cast<usize>(address))
		.c_str();
}

template <typename Mutex>
static void deadlock_has_names()
{
	static Mutex bus, log;
	std::string said;
	std::vector<const void *> links;

	INFO(shown(__PRETTY_FUNCTION__));
	bus.set_name("bus", 3);
	log.set_name("log");
	in_a_deadlock(bus, log, [&] {
		const auto link = [&](const inheriting_thread &,
				      const void *wanted) {
			links.push_back(wanted);
		};

		CHECK(log.lock_until(~u64{0}, link) == wait_result::deadlock);
		said = panic_of([] { log.lock(); });
	});
	CHECK(links == std::vector<const void *>{&log, &bus});
	has(said, "log, CPU 0: deadlock; at " + shown(__FILE__));
	has(said, " waits for log (" + hex(&log) + ") at " + shown(__FILE__));
	has(said, " waits for bus[3] (" + hex(&bus) + ") at ");
}

TEST_CASE("inheriting_mutex: checked: a deadlock is told by names")
{
	static constinit section_maxima<4> maxima;

	deadlock_has_names<checked_lock<inheriting_mutex>>();
	deadlock_has_names<checked_lock<recursive_lock<inheriting_mutex>>>();
	deadlock_has_names<checked_lock<counted_lock<inheriting_mutex>>>();
	deadlock_has_names<checked_lock<thread_lock<inheriting_mutex>>>();
	deadlock_has_names<
		timed_lock<checked_lock<inheriting_mutex>, maxima>>();
}

namespace {
struct checked_domain : inheritance {
	static inline constinit checked_lock<preemptable_ticket_lock<u8>,
					     "priorities">
		lock;
};
using owned = inheriting_mutex_in<checked_domain>;
} // namespace

/* Calls back(), which panics, from a thread's end, and from a refused wait. If
 * there is an order, each has its own: a panic leaves what it noted. */
template <typename Domain, typename Mutex>
static void calls_back(Mutex &mine, Mutex &its, bool has_order,
		       const std::string &wanted, void (*back)())
{
	std::optional<new_order<>> order;
	unsigned calls = 0;
	kernel cpu;
	const auto comes_back = [&] {
		calls++;
		has(panic_of(back), wanted);
		if (has_order)
			order.emplace();
	};

	if (has_order)
		order.emplace();
	cpu.start(1, [&] {
		mine.lock();
		lets(cpu.start(2, [&] {
			its.lock();
			mine.lock();
			mine.unlock();
			its.unlock();
		}));
		CHECK(its.lock_until(0, [&](const auto &, const void *) {
			comes_back();
		}) == wait_result::deadlock);
		thread_ends<Domain>(current(), false,
				    [&](const void *) { comes_back(); });
		mine.unlock();
	});
	cpu.run();
	CHECK(calls == 3);
}

template <typename Domain>
static void changes()
{
	priority_changed<Domain>(current(), 3);
}
template <typename Domain, bool HandsOver>
static void ends_again()
{
	thread_ends<Domain>(current(), HandsOver, [](const void *) {});
}

static const char *const already_holds =
	", CPU 0: recursion: the caller already holds it; at ";

/* It would wait for the lock that its own caller holds. */
TEST_CASE("inheriting_mutex: a callback that comes back into its domain")
{
	static owned mine, its;
	const auto check = [](const char *calls, const std::string &at,
			      void (*back)()) {
		INFO("it calls " << calls);
		calls_back<checked_domain>(
			mine, its, false,
			std::string("priorities") + already_holds + at, back);
	};

	check("unlock()", "", [] { mine.unlock(); });
	check("lock()", "", [] { its.lock(); });
	check("try_lock_until()", "", [] { (void)its.try_lock_until(0); });
	check("priority_changed()", shown(__FILE__), changes<checked_domain>);
	check("thread_ends()", shown(__FILE__),
	      ends_again<checked_domain, false>);
	check("thread_ends(true)", shown(__FILE__),
	      ends_again<checked_domain, true>);
}

/* Without names, as an order of the two would be reported before. */
TEST_CASE("inheriting_mutex: a callback that comes back, and there is an order")
{
	static checked_lock<inheriting_mutex> mine, its;
	const auto check = [](const char *calls, void (*back)()) {
		INFO("it calls " << calls);
		calls_back<inheritance>(mine, its, true,
					std::string(domain) + already_holds +
						shown(__FILE__),
					back);
	};

	check("priority_changed()", changes<inheritance>);
	check("thread_ends()", ends_again<inheritance, false>);
	check("thread_ends(true)", ends_again<inheritance, true>);
}

/* Interrupts are off in it, whatever the domain's lock is. */
TEST_CASE("inheriting_mutex: checked: a callback that waits")
{
	static checked_lock<inheriting_mutex, "bus"> bus, log;
	std::string said;

	in_a_deadlock(bus, log, [&] {
		thread_ends(current(), false, [&](const void *) {
			said = panic_of([] { log.lock(); });
		});
	});
	has(said, "bus, CPU 0: may sleep, but was called with interrupts off");
}

/* As a new thread that has the object, and the number, of one that ended. */
static void begins_anew()
{
	inheriting_thread *const object = &current();

	std::destroy_at(object);
	std::construct_at(object, 1u);
}

TEST_CASE("inheriting_mutex: checked: an heir's wait is no part of its section")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	const new_order fresh;
	kernel cpu;
	u32 age = ~u32{0};

	cpu.start(1, [&] {
		bus.lock();
		lets(cpu.start(0, [&] {
			bus.lock();
			age = greatest_age(fresh.order);
			bus.unlock();
		}));
		make_waits_older(fresh.order, 1u << 30);
		thread_ends(current(), true, [](const void *) {});
	});
	cpu.run();
	CHECK(age < 1u << 30);
}

/* Nobody waits for log, and disk is none that others inherit. */
TEST_CASE("inheriting_mutex: checked: what an ended thread held is forgotten")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	static checked_lock<inheriting_mutex, "log"> log;
	static checked_lock<mutex, "disk"> disk;
	const new_order fresh;
	kernel cpu;
	std::string heirs, end, anew;
	const auto inherits = [&](auto &lock) {
		lock.lock();
		CHECK(lock.owner_died());
		print_held([&](const char *line) { heirs += line; });
		lock.unlock();
	};

	cpu.start(1, [&] {
		log.lock();
		disk.lock();
		bus.lock();
		lets(cpu.start(0, [&] { inherits(bus); }));
		thread_ends(current(), true, [](const void *) {});
		end = panic_of([] { thread_ends<true>(); });
		disk.unlock();
		lets(cpu.start(1, [&] { inherits(log); }));
		begins_anew();
		anew = panic_of([&] {
			const guard held(disk);
			const guard too(bus);
		});
	});
	cpu.run();
	has(end, "disk, CPU 0: a thread ends with it held");
	CHECK(anew == "");
	CHECK(heirs.find("holds log") < heirs.find("holds bus"));
	CHECK(heirs.find("holds bus") == heirs.rfind("holds bus"));
	REQUIRE(notes.size() == 2);
	has(notes[0], "a thread has ended with bus (0x");
	has(notes[0], ") held, taken at " + shown(__FILE__));
	has(notes[1], "a thread has ended with log (0x");
	for (const held_locks &one : fresh.memory->held)
		CHECK(one.size() == 0);
}

using deep_mutex = recursive_lock<inheriting_mutex>;

/* Thread 0 ends with the lock, twice deep, and a new one has its number. */
template <typename Lock>
static std::string in_two_lives(Lock &lock, unsigned *inside)
{
	kernel cpu;
	std::string said;
	bool told = false;
	const auto takes = [&] {
		lock.lock();
		CHECK(++*inside == 1);
		work();
		--*inside;
		lock.unlock();
	};

	cpu.start(1, [&] {
		lock.lock();
		lock.lock();
		lets(cpu.start(0, [&] {
			said += panic_of([&] {
				lock.lock();
				told = lock.owner_died();
				CHECK(lock.depth() == 1);
				lock.unlock();
				takes();
			});
		}));
		thread_ends(current(), true, [](const void *) {});
		begins_anew();
		CHECK(lock.depth() == 0);
		said += panic_of(takes);
	});
	cpu.run();
	CHECK(told);
	CHECK_FALSE(lock.is_locked());
	return said;
}

TEST_CASE("inheriting_mutex: recursive: the next holder is another thread")
{
	static deep_mutex deep;
	static checked_lock<deep_mutex, "deep"> checked;
	static checked_lock<recursive_lock<counted_lock<inheriting_mutex>>> all;
	unsigned inside = 0;

	CHECK(in_two_lives(deep, &inside) == "");
	CHECK(in_two_lives(checked, &inside) == "");
	CHECK(in_two_lives(all, &inside) == "");
}

TEST_CASE("inheriting_mutex: recursive: it lends, and says why a wait ended")
{
	static deep_mutex deep;
	static checked_lock<deep_mutex, "deep"> checked;
	const auto deeper = [](auto &lock) {
		kernel cpu;

		cpu.start(1, [&] {
			lock.lock();
			const std::string said = panic_of([&] {
				CHECK(lock.lock_until(0) == wait_result::had);
			});
			CHECK(said == "");
			CHECK(lock.depth() == 2);
			lock.unlock();
			lock.unlock();
		});
		cpu.run();
	};

	for (wait_result ends : {wait_result::had, wait_result::killed}) {
		lends_in(deep, ends);
		lends_in(checked, ends);
	}
	deeper(deep);
	deeper(checked);
}

/* Two recursive locks, each twice deep, in two orders. */
TEST_CASE("inheriting_mutex: recursive: a chain that comes back is refused")
{
	static deep_mutex first, second;
	kernel cpu;
	unsigned links = 0;
	const auto twice = [](deep_mutex &of) { of.lock(), of.lock(); };
	const auto leave = [](deep_mutex &of) { of.unlock(), of.unlock(); };

	cpu.start(1, [&] {
		twice(first);
		lets(cpu.start(2, [&] {
			twice(second);
			twice(first);
			leave(first);
			leave(second);
		}));
		CHECK(second.lock_until(~u64{0}, [&](auto &, auto *) {
			links++;
		}) == wait_result::deadlock);
		leave(first);
	});
	cpu.run();
	CHECK(links == 2);
	CHECK_FALSE((first.is_locked() || second.is_locked()));
}

TEST_CASE("inheriting_mutex: synchronized: who holds the data learns of it")
{
	static synchronized<unsigned, inheriting_mutex> plain;
	static synchronized<unsigned, checked_lock<inheriting_mutex, "count">>
		checked;
	const auto learns = [](auto &count) {
		kernel cpu;
		bool told = false, again = true;

		cpu.start(1, [&] {
			const auto mine = count.lock();

			lets(cpu.start(5, [&] {
				const auto its = count.lock();

				told = count.owner_died();
			}));
			thread_ends(current(), true, [](const void *) {});
			/* A fiber that has ended runs no destructors. */
			current().state = thread::ended;
			fiber::suspend();
		});
		cpu.run();
		cpu.start(1, [&] {
			const auto its = count.lock();

			again = count.owner_died();
		});
		cpu.run();
		CHECK(told);
		CHECK_FALSE(again);
	};

	learns(plain);
	learns(checked);
}

TEST_CASE("inheriting_mutex: a thread that ends in a wait, or goes on")
{
	static inheriting_mutex log;
	const auto ends = [](inheriting_thread &one) {
		thread_ends(one, true, [](const void *) {});
	};
	std::string in_a_wait, in_its_park, goes_on;

	chain([&](chain &cpu) {
		in_a_wait = panic_of([&] { ends(cpu.all[1]); });
		as_thread(cpu, cpu.all[1],
			  [&] { in_its_park = panic_of([] { a.lock(); }); });
	});
	has(in_a_wait, "a thread ends while it waits");
	has(in_its_park, "a wait inside klock_os_park()");
	kernel cpu;
	cpu.start(1, [&] {
		log.lock();
		lets(cpu.start(2, [&] {
			ends(current());
			goes_on = panic_of([] { log.lock(); });
		}));
		log.unlock();
	});
	cpu.run();
	has(goes_on, "taken by a thread that has ended");
}

TEST_CASE("inheriting_mutex: checked: who inherits it does not take it twice")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	kernel cpu;
	std::string again;

	cpu.start(1, [&] {
		bus.lock();
		lets(cpu.start(5, [&] {
			bus.lock();
			again = panic_of([&] { bus.lock(); });
			bus.unlock();
		}));
		thread_ends(current(), true, [](const void *) {});
	});
	cpu.run();
	has(again, "recursion: the caller already holds it");
}

/* Both wait for the condition, and one becomes more urgent there. */
TEST_CASE("inheriting_mutex: condition: a priority that changes in its queue")
{
	static inheriting_mutex data;
	static condition changed;
	kernel cpu;
	std::string order;
	const auto waits = [&](const char *name) {
		return [&, name] {
			guard held(data);

			changed.wait(held);
			order += name;
		};
	};

	thread &first = cpu.start(2, waits("a"));
	thread &second = cpu.start(3, waits("b"));

	cpu.run();
	cpu.start(1, [&] {
		guard held(data);

		priority_changed(first, 7);
		changed.notify_all();
		work();
		CHECK(current().runs_with == 7);
		priority_changed(second, 9);
		work();
		CHECK(current().runs_with == 9);
		priority_changed(second, 4);
		CHECK(current().runs_with == 7);
	});
	cpu.run();
	CHECK(order == "ab");
	CHECK(all_zero(data));
}

/* A thread ends, with a mutex or none, and another takes one: behind the note
 * if there is one, after every eighth instruction. How often that is lost. */
static unsigned lost_at_end(bool holds)
{
	static checked_lock<inheriting_mutex, "next"> next;
	static checked_lock<mutex, "disk"> disk;
	std::deque<checked_lock<inheriting_mutex, "bus">> buses;
	new_order<64, 2> fresh;
	kernel cpu;
	thread &other = cpu.start(1, [] {});
	unsigned lost = 0;
	const auto is_seen = [&](unsigned long n) {
		thread &old = cpu.start(1, [] {});
		u32 noted = 0;

		as_thread(cpu, old, [&] {
			const guard below(disk);

			buses.emplace_back().lock();
			if (!holds)
				buses.back().unlock();
		});
		then_noted = step_on;
		const bool seen = with_intrusion(
			n,
			[&] {
				if (holds)
					rest();
				fresh.order.ended(old);
			},
			[&] { as_thread(cpu, other, [] { next.lock(); }); });

		then_noted = nullptr;
		for (const held_locks &one : fresh.memory->held)
			noted += one.size();
		lost += noted != seen;
		if (seen)
			as_thread(cpu, other, [] { next.unlock(); });
		return seen;
	};

	for (unsigned long n = 1; is_seen(n); n += 8)
		;
	return lost;
}

TEST_CASE("inheriting_mutex: checked: an end does not touch another's locks")
{
	CHECK(lost_at_end(false) == 0);
	CHECK(lost_at_end(true) == 0);
}

/* Thread 0 has ended, and the next holder has not run yet. */
TEST_CASE("inheriting_mutex: checked: the number of who ended holds nothing")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	static checked_lock<deep_mutex, "deep"> deep;
	kernel cpu;
	std::string says, says_deep;
	const auto takes = [](auto &lock) {
		return [&] { const guard held(lock); };
	};

	cpu.start(1, [&] {
		bus.lock();
		deep.lock();
		CHECK((bus.is_held_by_me() && deep.is_held_by_me()));
		lets(cpu.start(0, takes(bus)));
		lets(cpu.start(0, takes(deep)));
		thread_ends(current(), true, [](const void *) {});
		begins_anew();
		CHECK_FALSE((bus.is_held_by_me() || deep.is_held_by_me()));
		says = panic_of([] { assert_held(bus); });
		says_deep = panic_of([] { assert_held(deep); });
	});
	cpu.run();
	has(says, "bus, CPU 0: the caller does not hold it");
	has(says_deep, "deep, CPU 0: the caller does not hold it");
}

namespace {
struct other_domain : inheritance {
	static inline constinit klock::detail::sleepers_lock lock;
};
} // namespace

/* print_held() after the panic still shows what is held and waited for. */
TEST_CASE("inheriting_mutex: checked: an end that is wrong forgets nothing")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	const new_order fresh;
	kernel cpu;
	std::string waits, elsewhere, lines;
	const auto none = [](const void *) {};

	cpu.start(1, [&] {
		bus.lock();
		thread &other = cpu.start(2, [&] { const guard held(bus); });

		lets(other);
		waits = panic_of([&] { thread_ends(other, true, none); });
		elsewhere = panic_of([&] {
			thread_ends<other_domain>(current(), true, none);
		});
		print_held([&](const char *line) { lines += line; });
		bus.unlock();
	});
	cpu.run();
	has(waits, "a thread ends while it waits");
	has(elsewhere, "the thread has used mutexes of another domain");
	CHECK(notes.empty());
	has(lines, " holds bus (");
	has(lines, " sleeps on bus (");
}

TEST_CASE("inheriting_mutex: recursive: unlock by another is named")
{
	static deep_mutex deep, unused;
	kernel cpu;
	std::string of_free, by_another;

	of_free = panic_of([] { unused.unlock(); });
	cpu.start(1, [&] {
		deep.lock();
		deep.lock();
		lets(cpu.start(2, [&] {
			by_another = panic_of([] { deep.unlock(); });
		}));
		CHECK(deep.depth() == 2);
		deep.unlock();
		deep.unlock();
	});
	cpu.run();
	has(of_free, "unlock() by a thread that does not hold it");
	has(by_another, "unlock() by a thread that does not hold it");
}

/* Its object is not made anew: the next to come would be in beside it. */
TEST_CASE("inheriting_mutex: checked: a free one taken by who has ended")
{
	static checked_lock<inheriting_mutex, "bus"> bus;
	static checked_lock<deep_mutex, "deep"> deep;
	kernel cpu;
	std::string takes, tries;

	cpu.start(1, [&] {
		thread_ends(current(), true, [](const void *) {});
		takes = panic_of([] { bus.lock(); });
		tries = panic_of([] { (void)deep.try_lock(); });
	});
	cpu.run();
	has(takes, "bus, CPU 0: taken by a thread that has ended");
	has(tries, "deep, CPU 0: taken by a thread that has ended");
}
