/* SPDX-License-Identifier: MIT */
/*
 * rescue_guard: whoever holds the lock is alone, a rescuer that goes without it
 * harms nobody's lock, and a holder that never releases is no deadlock.
 */
#include "lock_worlds.hpp"
#include "orders.hpp"
#include "value_worlds.hpp"

#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_shared_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/plain.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/synchronized.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

#include <catch.hpp>

#include <algorithm>
#include <optional>

namespace of_rescue_guard {

using klock::u32;
using klock::u8;
using model::bug;
using model::result;
using verdict::good;
using namespace worlds;

namespace {

/* The mistake: unlocks whether it took the lock or not. */
template <typename L>
struct unlocks_always {
	unlocks_always(L &l, u32) : lock(l), held(l.try_lock()) {}
	~unlocks_always() { lock.unlock(); }
	explicit operator bool() const { return held; }

	L &lock;
	bool held;
};

u32 patience;

/* Its try is a rescue. */
template <typename L, typename Guard>
struct rescuing {
	explicit rescuing(unsigned) {}
	void lock(L &l) { taken.emplace(l); }
	bool try_lock(L &l)
	{
		rescued.emplace(l, patience);
		if (*rescued)
			return true;
		rescued.reset();
		return false;
	}
	void unlock(L &)
	{
		taken.reset();
		rescued.reset();
	}

	std::optional<klock::guard<L>> taken;
	std::optional<Guard> rescued;
};

template <typename L, template <typename> typename Guard = klock::rescue_guard>
constexpr kind rescued = describe<L, rescuing<L, Guard<L>>>("lock");

/* CPU 0 takes the lock as usual; the others rescue. */
result rescue(const kind &k, std::vector<unsigned> sections)
{
	const options how{.sections = sections};

	return play({.lock = k,
		     .roles = one_and_others('l', 't', how),
		     .is_free_at_end = true},
		    how);
}

} // namespace

TEST_CASE("rescue_guard: who holds the lock is alone, and it is free after")
{
	for (const u32 looks : {0u, 1u, 2u}) {
		patience = looks;
		good(rescue(rescued<klock::ticket_lock<u8>>, {1, 1}));
		good(rescue(rescued<klock::ticket_lock<u8>>, {2, 2}));
		good(rescue(rescued<klock::tas_lock>, {2, 2}));
	}
	patience = 1;
	good(rescue(rescued<klock::ticket_lock<u8>>, {1, 1, 1}));
}

TEST_CASE("rescue_guard: one that unlocks what it did not take is found")
{
	CHECK_FALSE(
		rescue(rescued<klock::tas_lock, unlocks_always>, {2, 2}).ok());
	CHECK_FALSE(
		rescue(rescued<klock::ticket_lock<u8>, unlocks_always>, {2, 2})
			.ok());
}

TEST_CASE("rescue_guard: a holder that never releases holds up nobody")
{
	const kind &k = rescued<klock::ticket_lock<u8>>;

	patience = 2;
	good(play({k, "lt", &world::holder_stays}, {}));
	/* A plain guard hangs here. */
	CHECK(play({k, "ll", &world::holder_stays}, {}).found == bug::deadlock);
}

} // namespace of_rescue_guard

namespace of_synchronized {

/*
 * synchronized and irq_lock: no access to the data races, and a handler that
 * takes what its own CPU holds finds interrupts off.
 */

using klock::irq_lock;
using klock::plain;
using klock::synchronized;
using klock::u8;
using model::bug;
using namespace worlds;
using verdict::good;
using ticket = klock::ticket_lock<u8>;

namespace {

/* The checker sees each access to it. */
struct counter {
	plain<u32> value;
	void add() { value.set(value.get() + 1); }
};

template <typename L>
struct synchronized_value : some_value {
	void update() override
	{
		data.with([](counter &c) { c.add(); });
	}
	bool try_update() override
	{
		if (auto held = data.try_lock()) {
			held->add();
			return true;
		}
		return false;
	}
	parts read() override
	{
		const u32 is = data.without_lock().value.get();

		return {is, is};
	}

	synchronized<counter, L> data;
};

template <typename L>
result all_are_counted(const options &how)
{
	return values<synchronized_value<L>>(how, "UU", "ll");
}

} // namespace

TEST_CASE("synchronized: no update is lost, no access races")
{
	good(all_are_counted<ticket>({.sections = {1, 1}}));
	good(all_are_counted<ticket>({.sections = {2, 2}}));
	good(all_are_counted<klock::mcs_lock>({.sections = {1, 1}}));
	good(all_are_counted<irq_lock<ticket>>({.sections = {1, 1}}));
}

TEST_CASE("irq_lock: a handler takes what its own CPU takes")
{
	const options interrupted{.sections = {1, 1}, .interrupts = 1};
	const result off = all_are_counted<irq_lock<ticket>>(interrupted);

	verdict::right_by_at_least(100, off);
	/* Without irq_lock<>, the handler deadlocks. */
	CHECK(all_are_counted<ticket>(interrupted).found == bug::deadlock);
}

} // namespace of_synchronized

namespace of_irq_shared_lock {

/*
 * irq_shared_lock: handlers read at every point of threads that read with
 * interrupts on and of writers, and an NMI's handler tries to, everywhere.
 */

using klock::irq_shared_lock;
using klock::u8;
using model::options;
using model::result;
using verdict::good;

namespace {

using by_phases = klock::phase_fair_lock<u8>;
using in_order = klock::rw_ticket_lock<u8>;

template <typename L>
struct world {
	irq_shared_lock<L> lock;
	klock::plain<unsigned> a, b;
	/* The checker does not see these. */
	unsigned written = 0, handled = 0, not_handled = 0, gave_up = 0;

	world()
	{
		model::name(lock, "lock");
		model::name(a, "a");
		model::name(b, "b");
	}

	void look()
	{
		model::check(a.get() == b.get(), "a reader sees a whole write");
	}
	void change()
	{
		a.set(a.get() + 1);
		b.set(b.get() + 1);
		written++;
	}
	/* Writes, also before it reads, tries to write, or reads. */
	void act(char what)
	{
		if (what == 'd') {
			klock::irq_guard held(lock);
			change();
			const unsigned mine = a.get();
			held.downgrade();
			look();
			model::check(a.get() == mine, "no writer between");
			return;
		}
		if (what == 'w') {
			klock::irq_guard held(lock);
			change();
		} else if (what == 'W') {
			if (klock::irq_try_guard held{lock})
				change();
			else
				gave_up++;
		} else {
			klock::shared_guard held(lock);
			look();
		}
	}
	void whole()
	{
		model::check(a.get() == written && b.get() == written,
			     "every write counted");
		model::check(!lock.is_locked(), "all have left");
	}
};

/* The body of an interrupt handler. */
template <typename L>
void reads(world<L> &w, unsigned)
{
	klock::handler_shared_guard held(w.lock);

	w.look();
	w.handled++;
}
template <typename L>
void tries(world<L> &w, unsigned)
{
	if (klock::handler_shared_try_guard held{w.lock}) {
		w.look();
		w.handled++;
	} else {
		w.not_handled++;
	}
}

/* The most handlers that got in, in one execution. */
template <typename L, typename Handler>
result interrupted(const std::string &roles, options how, Handler handler,
		   unsigned &most)
{
	how.interrupts = 1;
	return model::explore<world<L>>(
		how, [roles](world<L> &w, unsigned cpu) { w.act(roles[cpu]); },
		[&most](world<L> &w) {
			most = std::max(most, w.handled);
			w.whole();
		},
		handler);
}

struct size {
	const char *roles;
	std::vector<unsigned> sections;
};

template <typename L, typename Handler>
void are_right(const std::vector<size> &sizes, bool non_maskable,
	       Handler handler)
{
	for (const auto &[roles, sections] : sizes) {
		unsigned most = 0;
		const result r = interrupted<L>(
			roles,
			{.sections = sections, .non_maskable = non_maskable},
			handler, most);

		INFO(roles << "\n" << r.message << "\n" << r.timeline);
		verdict::right(r);
		CHECK(most == sections.size());
	}
}

constexpr auto clients = [](const options &how, auto enough) {
	options o = how;
	unsigned most = 0;

	o.sections = {1, 1};
	return enough(interrupted<by_phases>("wr", o, reads<by_phases>, most));
};

/* Two that read as handlers do, and a writer. */
struct queue {
	irq_shared_lock<by_phases> lock;
	klock::atomic<unsigned> inside, passed;
};

/* The holder that finds another gone ends the lock. */
struct mortal {
	/* Its life is not the world's. */
	union {
		irq_shared_lock<by_phases> lock;
	};
	klock::atomic<unsigned> was_here;
	unsigned ends = 0; /* on the host */

	mortal() : lock() { model::name(lock, "lock"); }
	~mortal() {}

	template <typename Guard>
	void visit()
	{
		Guard held(lock);
		was_here.store_relaxed(1);
	}
	template <typename Guard>
	void end_if_visited()
	{
		using type = irq_shared_lock<by_phases>;
		Guard held(lock);

		if (was_here.load_relaxed() == 0)
			return;
		held.unlock();
		lock.~type();
		ends++;
	}
};

template <typename First, typename Second>
void second_may_end_it()
{
	unsigned most = 0;
	const result r = model::explore<mortal>(
		{.sections = {1, 1}},
		[](mortal &m, unsigned cpu) {
			if (cpu == 0)
				m.visit<First>();
			else
				m.end_if_visited<Second>();
		},
		[&most](mortal &m) { most = std::max(most, m.ends); });

	verdict::right(r);
	CHECK(most == 1);
}

} // namespace

TEST_CASE("irq_shared_lock: a handler reads over whatever it interrupts")
{
	const std::vector<size> sizes = {
		{"wr", {1, 1}}, {"ww", {1, 1}}, {"rr", {1, 1}}, {"wr", {1, 2}},
		{"wr", {2, 1}}, {"dr", {1, 1}}, {"dw", {1, 1}}};

	are_right<by_phases>(sizes, false, reads<by_phases>);
	are_right<in_order>(sizes, false, reads<in_order>);
}

TEST_CASE("irq_shared_lock: an NMI's handler tries, over a writer as well")
{
	const std::vector<size> sizes = {{"wr", {1, 1}}, {"ww", {1, 1}}};

	are_right<by_phases>(sizes, true, tries<by_phases>);
	are_right<in_order>(sizes, true, tries<in_order>);
}

/* If it does not get the gate, it gives back what it took of L. */
TEST_CASE("irq_shared_lock: a writer that tries writes, or leaves no trace")
{
	const std::vector<size> sizes = {
		{"Wr", {1, 1}}, {"WW", {1, 1}}, {"Ww", {1, 1}}};

	are_right<by_phases>(sizes, false, reads<by_phases>);
	are_right<in_order>(sizes, false, reads<in_order>);
}

/* Two readers never make a handler's try fail; a writer may. */
TEST_CASE("irq_shared_lock: a try fails only where it must")
{
	using type = world<by_phases>;
	unsigned wrote = 0, gave_up = 0;
	const auto with = [](const char *roles, auto at_end) {
		const std::string all = roles;
		const result r = model::explore<type>(
			{.sections = {1, 1},
			 .interrupts = 1,
			 .non_maskable = true},
			[all](type &w, unsigned cpu) { w.act(all[cpu]); },
			at_end, tries<by_phases>);

		INFO(roles << "\n" << r.message << "\n" << r.timeline);
		verdict::right(r);
	};

	with("rr", [](type &w) { model::check(w.not_handled == 0); });
	with("Wr", [&](type &w) {
		wrote += w.written;
		gave_up += w.gave_up;
	});
	CHECK(wrote > 0);
	CHECK(gave_up > 0);
}

TEST_CASE("irq_shared_lock: orders needed")
{
	proof::each_order_is_needed(clients, "irq_shared_lock.hpp", 4);
}

/*
 * CPU 2 gets in beside CPU 1, who does not leave before: also where CPU 0 waits
 * for CPU 1 meanwhile.
 */
TEST_CASE("irq_shared_lock: handlers come first")
{
	const result r = model::explore<queue>(
		{.sections = {1, 1, 1}}, [](queue &q, unsigned cpu) {
			if (cpu == 0) {
				klock::irq_guard held(q.lock);
				return;
			}
			if (cpu == 2)
				q.inside.await_eq_relaxed(1);
			klock::handler_shared_guard held(q.lock);
			if (cpu == 2) {
				q.passed.store_relaxed(1);
				return;
			}
			q.inside.store_relaxed(1);
			q.passed.await_eq_relaxed(1);
		});

	verdict::good(r);
}

TEST_CASE("irq_shared_lock: lifetime: the next holder may free it")
{
	using type = irq_shared_lock<by_phases>;
	using write = klock::irq_guard<type>;
	using read = klock::shared_guard<type>;
	using handle = klock::handler_shared_guard<type>;

	/* But no handler: it may be in before a writer has left L. */
	second_may_end_it<handle, write>();
	second_may_end_it<read, write>();
	second_may_end_it<write, write>();
	second_may_end_it<write, read>();
}

} // namespace of_irq_shared_lock

namespace of_initially_held {

/* A boot CPU holds the others back: they see all that it wrote before. */

using klock::u8;
using namespace worlds;

namespace {

/* Taken from its begin on. */
template <typename L>
struct taken : L {
	taken() : L(klock::initially_held) {}
};

/* The mistake: a lock that is free. */
struct is_free : klock::ticket_lock<u8> {
	void unlock()
	{
		if (is_locked())
			ticket_lock::unlock();
	}
};

template <typename L>
outcome boot(std::vector<unsigned> cpus)
{
	return play({.lock = describe<L>("lock"),
		     .roles = std::string(cpus.size(), 'l'),
		     .scene = &world::held_back,
		     .is_free_at_end = true},
		    {.sections = cpus});
}

template <typename L>
void holds_back(std::vector<unsigned> cpus)
{
	verdict::right_by_at_least(cpus.size() - 1, boot<taken<L>>(cpus));
}

} // namespace

TEST_CASE("initially_held: who waits sees what was written before it opened")
{
	holds_back<klock::ticket_lock<u8>>({1, 1, 1});
	holds_back<klock::tas_lock>({1, 1, 1});
	holds_back<klock::ttas_lock>({1, 1, 1});
	holds_back<klock::narrow_ticket_lock<2>>({1, 1, 1});
	holds_back<klock::padded_ticket_lock<u8>>({1, 1, 1});
	holds_back<klock::preemptable_ticket_lock<u8, 1>>({1, 1});
	CHECK(boot<is_free>({1, 1}).found == model::bug::data_race);
}

} // namespace of_initially_held

namespace of_serving {

/*
 * A holder that waits for another CPU's answer, which that one gives while it
 * waits for the lock.
 */

using klock::u8;
using verdict::good;
using namespace worlds;

namespace {

/* The mistakes: serves before the wait, behind it, never. */
template <typename L, bool Before, bool Behind>
struct beside : L {
	void lock() { L::lock(); }
	void lock(auto &&serve)
	{
		if (Before)
			serve();
		L::lock();
		if (Behind)
			serve();
	}
};

template <typename L>
const std::vector<kind> wrong = {describe<beside<L, false, false>>("never"),
				 describe<beside<L, true, false>>("before"),
				 describe<beside<L, false, true>>("behind")};

/* Only CPU 1 is asked to flush. */
outcome serving(const kind &k, options how,
		void (world::*scene)(unsigned cpu) = &world::sections)
{
	serve = [] {
		if (model::cpu() == 1)
			world::alive->flush();
	};
	const outcome r = play({.lock = k,
				.roles = std::string(how.sections.size(), 'z'),
				.scene = scene,
				.is_free_at_end = true},
			       how);

	serve = [] {};
	return r;
}

outcome shootdown(const kind &k, const options &how)
{
	return serving(k, how, &world::shootdown);
}

void each_order_is_needed(const kind &k)
{
	const auto clients = [&k](options how, auto enough) {
		options sections = how;

		for (options *o : {&how, &sections}) {
			o->split_pairs = true;
			o->counter_bits = 2;
		}
		how.sections = {1, 1};
		sections.sections = {4, 1};
		return enough(shootdown(k, how)) ||
		       enough(serving(k, sections));
	};
	unsigned tried = 0;

	for (const orders::use &u : orders::uses(clients))
		for (const orders::weakening &w : model::weakenings(u)) {
			INFO("nothing finds " << orders::spelt(w));
			CHECK(orders::found(clients, w));
			tried++;
		}
	CHECK(tried >= 2);
}

using locks = klock::selftest::list<klock::ticket_lock<u8>,
				    klock::preemptable_ticket_lock<u8, 1>,
				    klock::tas_lock, klock::ttas_lock>;

} // namespace

TEST_CASE("serving: who waits for a lock answers its holder")
{
	locks::for_each([]<typename L>() {
		const kind k = describe<L>("lock");

		good(shootdown(k, {.sections = {2, 1}}));
		good(shootdown(k, {.sections = {1, 1, 1}}));
		good(serving(k, {.sections = {2, 2}}));
		good(shootdown(k, {.sections = {2, 1},
				   .machine = model::machine::x86}));
		for (const kind &one : wrong<L>) {
			INFO(one.name);
			CHECK(shootdown(one, {.sections = {2, 1}}).found ==
			      model::bug::deadlock);
		}
	});
}

/* Each order of lock(serve) and unlock() is needed, in waits too. */
TEST_CASE("serving: orders needed")
{
	locks::for_each([]<typename L>() {
		each_order_is_needed(describe<L>("lock"));
	});
}

} // namespace of_serving
