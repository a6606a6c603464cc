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

using klock::u8;
using model::bug;
using verdict::good;
using namespace worlds;

namespace {

/* Guards of a type that waits, and of one that tries. */
template <typename L, typename Waits, typename Tries>
struct guarded_by {
	explicit guarded_by(unsigned) {}
	void lock(L &l) { taken.emplace(l); }
	bool try_lock(L &l)
	{
		tried.emplace(l);
		if (*tried)
			return true;
		tried.reset();
		return false;
	}
	void unlock(L &)
	{
		taken.reset();
		tried.reset();
	}

	std::optional<Waits> taken;
	std::optional<Tries> tried;
};

} // namespace

namespace of_rescue_guard {

using klock::u32;
using model::result;

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

/* A rescue is its try. */
template <typename L, typename Guard>
struct with_patience : Guard {
	explicit with_patience(L &l) : Guard(l, patience) {}
};
template <typename L, typename Guard>
using rescuing = guarded_by<L, klock::guard<L>, with_patience<L, Guard>>;

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

namespace {

using by_phases = klock::phase_fair_lock<u8>;
using in_order = klock::rw_ticket_lock<u8>;

template <typename L>
struct writes : guarded_by<L, klock::irq_guard<L>, klock::irq_try_guard<L>> {
	using writes::guarded_by::guarded_by;
	void downgrade() { this->taken->downgrade(); }
};
template <typename L>
using reads_in_handler = guarded_by<L, klock::handler_shared_guard<L>,
				    klock::handler_shared_try_guard<L>>;

/* Handlers have the numbers behind those of the threads. */
constexpr unsigned first_handler = 2;

template <typename L>
struct reads : reads_in_handler<L> {
	explicit reads(unsigned number)
	    : reads_in_handler<L>(number), is_handler(number >= first_handler)
	{
	}
	void lock(L &l)
	{
		if (is_handler)
			reads_in_handler<L>::lock(l);
		else
			by_thread.emplace(l);
	}
	void unlock(L &l)
	{
		by_thread.reset();
		reads_in_handler<L>::unlock(l);
	}

	bool is_handler;
	std::optional<klock::shared_guard<L>> by_thread;
};

template <typename L, template <typename> typename Reads = reads>
constexpr kind lock_of =
	describe<irq_shared_lock<L>, writes<irq_shared_lock<L>>,
		 Reads<irq_shared_lock<L>>>("lock");

template <typename L>
void check_all_have_left(lock_of_kind &lock, unsigned)
{
	check(!lock.as<irq_shared_lock<L>>().is_locked(), "all have left");
}

/* Handlers wait, or try. */
template <typename L>
outcome interrupted(const char *roles, const char *handlers, options how)
{
	how.interrupts = 1;
	return play({.lock = lock_of<L>,
		     .roles = roles,
		     .handlers = handlers,
		     .first_handler = first_handler,
		     .at_rest = check_all_have_left<L>},
		    how);
}

struct size {
	const char *roles;
	std::vector<unsigned> sections = {1, 1};
};

template <typename L>
void are_right(const std::vector<size> &sizes, const char *handlers,
	       bool non_maskable = false)
{
	for (const auto &[roles, sections] : sizes) {
		const outcome r = interrupted<L>(
			roles, handlers,
			{.sections = sections, .non_maskable = non_maskable});

		INFO(roles);
		verdict::right(r);
		CHECK(r.most_handled == 2);
	}
}

constexpr auto clients = [](const options &how, auto enough) {
	return enough(interrupted<by_phases>("lr", "rr", how));
};

} // namespace

TEST_CASE("irq_shared_lock: a handler reads over whatever it interrupts")
{
	const std::vector<size> sizes = {{"lr"},	 {"ll"},	 {"rr"},
					 {"lr", {1, 2}}, {"lr", {2, 1}}, {"dr"},
					 {"dl"}};

	are_right<by_phases>(sizes, "rr");
	are_right<in_order>(sizes, "rr");
}

TEST_CASE("irq_shared_lock: an NMI's handler tries, over a writer as well")
{
	are_right<by_phases>({{"lr"}, {"ll"}}, "ss", true);
	are_right<in_order>({{"lr"}, {"ll"}}, "ss", true);
}

/* If it does not get the gate, it gives back what it took of L. */
TEST_CASE("irq_shared_lock: a writer that tries writes, or leaves no trace")
{
	are_right<by_phases>({{"tr"}, {"tt"}, {"tl"}}, "rr");
	are_right<in_order>({{"tr"}, {"tt"}, {"tl"}}, "rr");
}

/* Two readers never make a handler's try fail; a writer may. */
TEST_CASE("irq_shared_lock: a try fails only where it must")
{
	const outcome read =
		interrupted<by_phases>("rr", "ss", {.non_maskable = true});
	const outcome written =
		interrupted<by_phases>("tr", "ss", {.non_maskable = true});

	verdict::right(read);
	CHECK(read.most_refused == 0);
	verdict::right(written);
	CHECK(written.most_changes == 1);
	CHECK(written.most_left_out == 1);
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
	good(play({lock_of<by_phases, reads_in_handler>, "lmn"}, {}));
}

TEST_CASE("irq_shared_lock: lifetime: the next holder may free it")
{
	const auto second_may_end_it = [](const kind &k, const char *roles) {
		const outcome r = play({k, roles, &world::freed_if_second}, {});

		verdict::right(r);
		CHECK(r.ended_ever);
	};

	/* But no handler: it may be in before a writer has left L. */
	second_may_end_it(lock_of<by_phases, reads_in_handler>, "rl");
	for (const char *const roles : {"rl", "ll", "lr"})
		second_may_end_it(lock_of<by_phases>, roles);
}

} // namespace of_irq_shared_lock

namespace of_initially_held {

/* A boot CPU holds the others back: they see all that it wrote before. */

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
