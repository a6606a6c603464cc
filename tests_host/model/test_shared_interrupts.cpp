/* SPDX-License-Identifier: MIT */
/*
 * Handlers that read, or write, a lock that readers share, at every point where
 * the interrupt flag lets them in.
 */
#include "shared_worlds.hpp"

#include <klock/arch/irq.hpp>

#include <catch.hpp>

using klock::arch::irq_restore;
using klock::arch::irq_save;
using klock::selftest::all_shared_locks;
using klock::selftest::shared_subject;
using klock::selftest::sharing;
using namespace worlds;

namespace {

template <typename Subject>
struct interrupted : shared_words<Subject> {
	contender<typename Subject::lock> handler_writers[most_cpus];
	reader<typename Subject::lock> handler_readers[most_cpus];
	unsigned handled = 0; /* on the host */

	interrupted()
	{
		for (unsigned cpu = 0; cpu < most_cpus; cpu++) {
			handler_writers[cpu].renumber(cpu);
			handler_readers[cpu].renumber(cpu);
		}
	}

	void handle(char what, unsigned cpu)
	{
		handled++;
		if (what == 'w') {
			handler_writers[cpu].lock(this->lock);
			this->add();
			handler_writers[cpu].unlock(this->lock);
		} else {
			handler_readers[cpu].lock(this->lock);
			this->look();
			handler_readers[cpu].unlock(this->lock);
		}
	}
};

struct seen {
	result r;
	unsigned most_handled = 0;
};

/* What the threads do, what their handlers do, and whether interrupts are off
 * meanwhile. */
template <typename Subject>
seen interrupt(const client &c, char handler, bool off)
{
	using world = interrupted<Subject>;
	const std::string roles = c.roles;
	seen s;

	s.r = model::explore<world>(
		{.sections = c.sections, .interrupts = 1},
		[=](world &w, unsigned cpu) {
			const bool before = off ? irq_save() : true;
			w.act(roles[cpu], cpu);
			if (off)
				irq_restore(before);
		},
		[&s](world &w) {
			s.most_handled = std::max(s.most_handled, w.handled);
			w.whole();
		},
		[=](world &w, unsigned cpu) { w.handle(handler, cpu); });
	return s;
}

} // namespace

TEST_CASE("shared: with interrupts off, handlers may read and write")
{
	all_shared_locks<2>::for_each([]<typename Subject>() {
		for (const char handler : {'r', 'w'})
			for (const char *const roles : {"wr", "rr", "ww"}) {
				const seen s = interrupt<Subject>(
					{roles, {1, 1}}, handler, true);

				INFO(Subject::name
				     << " " << roles << " " << handler << "\n"
				     << s.r.message << s.r.timeline);
				CHECK(s.r.ok());
				CHECK(s.r.exhaustive);
				CHECK(s.most_handled == 2);
			}
	});
}

TEST_CASE("shared: with interrupts on, a handler's reader is found")
{
	all_shared_locks<2>::for_each([]<typename Subject>() {
		/* Over a writer; over a reader, behind a writer that waits. */
		INFO(Subject::name);
		CHECK_FALSE(
			interrupt<Subject>({"ww", {1, 1}}, 'r', false).r.ok());
		CHECK_FALSE(
			interrupt<Subject>({"wr", {1, 1}}, 'r', false).r.ok());
	});
}

/*
 * Reads that nest: interrupts are off in lock_shared and unlock_shared, and on
 * in between, where a handler reads as well.
 */
TEST_CASE("shared: reader_lock: a handler reads inside of a read")
{
	using lock = shared_subject<"", klock::reader_lock<2>,
				    sharing::writers_first>;
	using world = interrupted<lock>;

	for (const auto &sections :
	     std::vector<std::vector<unsigned>>{{1, 1}, {2, 1}, {1, 2}}) {
		unsigned most = 0;
		const result r = model::explore<world>(
			{.sections = sections, .interrupts = 1},
			[](world &w, unsigned cpu) {
				bool before = irq_save();
				if (cpu == 0) {
					w.write(0);
					irq_restore(before);
					return;
				}
				w.readers[1].lock(w.lock);
				irq_restore(before);
				w.look();
				before = irq_save();
				w.readers[1].unlock(w.lock);
				irq_restore(before);
			},
			[&most](world &w) {
				most = std::max(most, w.handled);
				w.whole();
			},
			[](world &w, unsigned cpu) { w.handle('r', cpu); });
		INFO(r.message << "\n" << r.timeline);
		CHECK(r.ok());
		CHECK(r.exhaustive);
		CHECK(most == 2);
	}
}

TEST_CASE("shared: an NMI's handler may try, to read and to write")
{
	all_shared_locks<2>::for_each([]<typename Subject>() {
		using lock = typename Subject::lock;

		if constexpr (klock::try_lockable<lock> &&
			      klock::try_shared_lockable<lock>) {
			using world = interrupted<Subject>;
			for (const bool writes : {false, true}) {
				unsigned most = 0;
				const result r = model::explore<world>(
					{.sections = {1, 1},
					 .interrupts = 1,
					 .non_maskable = true},
					[](world &w, unsigned cpu) {
						w.act("wr"[cpu], cpu);
					},
					[&most](world &w) {
						most = std::max(most,
								w.handled);
						w.whole();
					},
					[=](world &w, unsigned cpu) {
						w.handled +=
							writes ? w.try_write(
									 cpu)
							       : w.try_read(
									 cpu);
					});
				INFO(Subject::name << " " << r.message << "\n"
						   << r.timeline);
				CHECK(r.ok());
				CHECK(r.exhaustive);
				CHECK(most == 2);
			}
		}
	});
}
