/* SPDX-License-Identifier: MIT */
/*
 * examples.hpp: every planted mistake is found, every mended twin is right, and
 * all of it was looked at.
 */
#include "examples.hpp"

#include <model/model.hpp>

#include <catch.hpp>

namespace {

using enum std::memory_order;

template <typename World>
model::result explore(std::vector<unsigned> cpus, unsigned interrupts = 0)
{
	return model::explore<World>(
		{.sections = cpus, .interrupts = interrupts},
		[](World &w, unsigned which) { w.cpu(which); },
		[](World &w) { model::check(w.holds(), "holds"); },
		[](World &w, unsigned) {
			if constexpr (requires { w.handler(); })
				w.handler();
		});
}

template <typename Busted, typename Mended>
void both(model::bug expected, std::vector<unsigned> cpus, model::u64 least,
	  unsigned interrupts = 0)
{
	const model::result wrong = explore<Busted>(cpus, interrupts);
	INFO("busted:\n" << wrong.timeline);
	CHECK(wrong.found == expected);

	const model::result right = explore<Mended>(cpus, interrupts);
	INFO("mended:\n" << right.timeline);
	CHECK(right.ok());
	CHECK(right.exhaustive);
	CHECK(right.complete >= least);
}

} // namespace

TEST_CASE("examples: a reader's unlock that publishes nothing")
{
	both<reader_unlock<relaxed>, reader_unlock<release>>(
		model::bug::data_race, {1, 1, 1}, 10);
}

TEST_CASE("examples: a seqlock without a fence")
{
	both<sequence<false>, sequence<true>>(model::bug::failed_check, {1, 1},
					      5);
}

TEST_CASE("examples: a once, checked twice")
{
	both<double_checked<relaxed>, double_checked<acquire>>(
		model::bug::data_race, {1, 1, 1}, 10);
}

TEST_CASE("examples: a wake-up lost by a fence too weak")
{
	both<lost_wakeup<acq_rel>, lost_wakeup<seq_cst>>(model::bug::deadlock,
							 {1, 1}, 3);
}

TEST_CASE("examples: a hazard pointer without a full fence")
{
	both<hazard<acq_rel>, hazard<seq_cst>>(model::bug::dead_object, {1, 1},
					       3);
}

TEST_CASE("examples: a mailbox that is emptied before it is unmarked")
{
	both<mailbox<false>, mailbox<true>>(model::bug::deadlock, {1, 1, 1},
					    10);
}

TEST_CASE("examples: a reference count that goes down relaxed")
{
	both<put<relaxed>, put<acq_rel>>(model::bug::data_race, {1, 1}, 2);
}

TEST_CASE("examples: a ring's index that comes before its slot")
{
	both<ring_index<relaxed>, ring_index<release>>(model::bug::data_race,
						       {1, 1}, 10);
}

TEST_CASE("examples: a handler that waits for the CPU that it interrupts")
{
	both<handler_waits<false>, handler_waits<true>>(model::bug::deadlock,
							{1}, 2, 1);
}

TEST_CASE("examples: a try_lock of two steps")
{
	both<two_steps<false>, two_steps<true>>(model::bug::data_race, {1, 1},
						3);
}
