/* SPDX-License-Identifier: MIT */
/*
 * too_long: a CPU's figures are whole wherever a handler comes in between, and
 * whoever reads them meanwhile: another CPU, or an NMI over the writer.
 *
 * It is code, as no lock is taken and the figures are no value that is copied.
 */
#include <klock/too_long.hpp>

#include "../checker/verdict.hpp"

#include <catch.hpp>

namespace of_too_long {

using namespace klock;
using model::check;

namespace {

/* A file's place in the array and a line say the same as the cycles. */
constexpr char files[10] = {};

struct world {
	section_maxima<2> maxima;
	int seen = 0; /* by a handler: on the host */

	void note(int cycles)
	{
		maxima.note_section(section_kind::hold,
				    static_cast<u64>(cycles),
				    {files + cycles, cycles});
	}
	usize look() const
	{
		const longest_section one =
			maxima.longest(0, section_kind::hold);

		check(one.cycles == static_cast<usize>(one.by.line) &&
			      (!one.cycles ||
			       one.by.file == files + one.cycles),
		      "of two sections");
		return one.cycles;
	}
};

/* CPU 0 notes 5, CPU 1 looks; a handler comes at any instruction of CPU 0. */
template <typename Handler>
model::result explored(bool nmi, Handler handler)
{
	return model::explore<world>(
		{.sections = {1, 1}, .interrupts = 1, .non_maskable = nmi},
		[](world &w, unsigned cpu) {
			if (cpu == 0)
				w.note(5);
			else
				(void)w.look();
		},
		[](world &w) { check(w.look() == (w.seen ? 7 : 5), "lost"); },
		handler);
}

} // namespace

TEST_CASE("too_long: a handler notes in the middle, another CPU looks")
{
	const auto r = explored(false, [](world &w, unsigned cpu) {
		if (cpu == 0)
			w.note(w.seen = 7);
	});

	verdict::right_by_at_least(10000, r);
}

TEST_CASE("too_long: an NMI looks over the writer, and what it notes is not "
	  "noted")
{
	const auto r = explored(true, [](world &w, unsigned cpu) {
		(void)w.look();
		if (cpu == 0)
			w.note(9);
	});

	verdict::right_by_at_least(10000, r);
}

TEST_CASE("too_long: an NMI takes a timed lock, wherever it comes")
{
	const auto take = [](world &w, int line) {
		const irq_state before = irq_save();

		check(w.maxima.irqs_go_off(1, {files, line}));
		w.maxima.irqs_come_on();
		irq_restore(before);
	};
	const auto r = model::explore<world>(
		{.sections = {1}, .interrupts = 1, .non_maskable = true},
		[&](world &w, unsigned) { take(w, 1); },
		[](world &w) {
			check(w.maxima.longest(0, section_kind::irqs_off)
				      .by.line == 1);
		},
		[&](world &w, unsigned) { take(w, 2); });

	verdict::right_by_at_least(10, r);
}

} // namespace of_too_long
