/* SPDX-License-Identifier: MIT */
/*
 * sleep: each mistake in the locks that sleep is found, in the world that is
 * named beside it, where all is well without. Compiled with the headers that
 * sleep_mutants.py has made.
 */
#include "inheriting_worlds.hpp"

#include <catch.hpp>

namespace sleeping {

namespace {

using model::bug;

/* Wakes, and makes it true after that. */
struct woken_too_early : queue {
	void bring()
	{
		this->queue.wake_one([] {});
		this->queue.wait([this] { return add(1), true; });
	}
};

/* Two bring one each, and there is room for one. */
result over_its_bound(const options &how)
{
	struct bound {
		bounded_semaphore<1, tickets> units;
		atomic<unsigned> kept;
	};

	return model::explore<bound>(
		how,
		[](bound &w, unsigned) {
			w.kept.fetch_add_relaxed(w.units.release());
		},
		[](bound &w) { check(w.kept.load_relaxed() == 1, "bound"); });
}

constexpr u64 most = 40'000;

result lends(const char *roles)
{
	return lending({.max_executions = most}, roles);
}

const options one{.sections = {1}}, one_each{.sections = {1, 1}},
	two_one{.sections = {2, 1}}, one_two{.sections = {1, 2}},
	three{.sections = {1, 1, 1}, .max_executions = most},
	three_one{.sections = {3, 1}};

struct mistake {
	mutant which;
	bug found;
	/* Complete executions before, at most. */
	u64 within;
	result (*world)();
};

using nested = one_unit<nesting_tickets>;

const mistake mistakes[] = {
	{mutant::open_before_queue, bug::deadlock, 24,
	 [] { return takes_and_brings<answer>(one_each, "tb"); }},
	{mutant::looks_then_queues, bug::deadlock, 24,
	 [] { return takes_and_brings<queue>(one_each, "tb"); }},
	{mutant::unpark_before_woken, bug::deadlock, 9,
	 [] { return sections<mutex_>(one_each, "ll"); }},
	{mutant::parks_without_look, bug::deadlock, 6,
	 [] { return sections<nested>(one_each, "ll"); }},
	{mutant::unpark_by_store, bug::deadlock, 21,
	 [] { return sections<mutex_>(three, "llu"); }},
	{mutant::unpark_after_inner, bug::data_race, 3,
	 [] { return sections<mutex_>(one_each, "ll"); }},
	{mutant::does_not_pass_inner, bug::dead_object, 3,
	 [] { return sections<unit>(one_each, "ll"); }},
	{mutant::does_not_pass_inner, bug::dead_object, 0,
	 [] { return takes_and_brings<answer>(one_each, "tb"); }},
	{mutant::does_not_pass_inner, bug::dead_object, 0,
	 [] { return freed_by_taker<queue>(one_each); }},
	{mutant::seen_inside, bug::data_race, 48,
	 [] { return takes_and_brings<answer>(one_each, "Tb"); }},
	{mutant::looks_inside, bug::data_race, 3,
	 [] { return late_and_asks(one_each); }},
	{mutant::done_inside, bug::dead_object, 48,
	 [] { return takes_and_brings<answer>(one_each, "Tb"); }},
	{mutant::set_wakes_nobody, bug::deadlock, 0,
	 [] { return takes_and_brings<answer>(one_each, "tb"); }},
	{mutant::waits_unseen, bug::deadlock, 0,
	 [] { return takes_and_brings<under_spin>(one_each, "tb"); }},
	{mutant::notified_forgets, bug::deadlock, 0,
	 [] {
		 return takes_and_brings<under_spin>({.sections = {1, 1, 2}},
						     "ttb");
	 }},
	{mutant::late_forgets, bug::deadlock, 0,
	 [] { return takes_and_brings<under_spin>(three, "tTb"); }},
	{mutant::wakes_the_told, bug::deadlock, 72,
	 [] {
		 return takes_and_brings<queue>({.sections = {1, 1, 2}}, "ttb");
	 }},
	{mutant::in_vain_to_the_back, bug::failed_check, 432,
	 [] { return served_in_order(three); }},
	{mutant::announced_by_store, bug::deadlock, 2,
	 [] { return sections<unit>(one_each, "ll"); }},
	{mutant::unit_released_inside, bug::dead_object, 184,
	 [] { return freed<unit>(one_each, "Ll"); }},
	{mutant::released_under_inner, bug::dead_object, 70,
	 [] { return freed<mutex_>(one_each, "Ll"); }},
	{mutant::last_leaves_waiters, bug::none, 9,
	 [] { return sections<mutex_>(one_each, "Ll"); }},
	{mutant::told_taker_forgets, bug::deadlock, 11915,
	 [] { return sections<mutex_>(three, "lll"); }},
	{mutant::told_for_ever, bug::deadlock, 244,
	 [] { return sections<mutex_>(two_one, "ll"); }},
	{mutant::comes_in_vain_unseen, bug::deadlock, 244,
	 [] { return sections<mutex_>(two_one, "ll"); }},
	{mutant::late_leaves_told, bug::deadlock, 63695,
	 [] { return freed<mutex_>(one_two, "Ll"); }},
	{mutant::tells_with_the_flag, bug::deadlock, 3,
	 [] { return sections<mutex_>(one_each, "ll"); }},
	{mutant::tells_the_second, bug::deadlock, 7,
	 [] { return in_turn<mutex_>(three); }},
	{mutant::hand_over_forgets, bug::deadlock, 7301,
	 [] { return sections<fifo>(three, "lll"); }},
	{mutant::grants_without_unpark, bug::deadlock, 251,
	 [] { return sections<mutex_>(two_one, "ll"); }},
	{mutant::tells_nobody, bug::deadlock, 3,
	 [] { return sections<mutex_>(one_each, "ll"); }},
	{mutant::no_hand_over, bug::failed_check, 17554,
	 [] { return told_in_vain<patient_mutex, 1>(three_one); }},
	{mutant::unlock_gives_up, bug::failed_check, 9780,
	 [] { return sections<mutex_>(two_one, "Ll"); }},
	{mutant::late_stays, bug::dead_object, 0,
	 [] { return takes_and_brings<queue>(one_each, "Tb"); }},
	{mutant::late_unit_stays, bug::dead_object, 0,
	 [] { return takes_and_brings<units>(one_each, "Tb"); }},
	{mutant::late_loses_wake, bug::deadlock, 14992,
	 [] { return takes_and_brings<early>(three, "Ttb"); }},
	{mutant::wakes_one_of_all, bug::deadlock, 0,
	 [] { return takes_and_brings<queue>(three, "tta"); }},
	{mutant::unlocks_then_queues, bug::deadlock, 540,
	 [] { return takes_and_brings<under_mutex>(one_each, "tb"); }},
	{mutant::unlocks_then_queues, bug::deadlock, 54,
	 [] { return takes_and_brings<under_spin>(one_each, "tb"); }},
	{mutant::late_writer_admits_nobody, bug::deadlock, 0,
	 [] { return sections<shared>(three, "mnL"); }},
	{mutant::one_reader_counts, bug::failed_check, 1153,
	 [] { return sections<shared>(three, "mnL"); }},
	{mutant::late_passes_nothing_on, bug::data_race, 0,
	 [] { return given_up<shared>({.max_executions = most}); }},
	{mutant::late_holds_without_flag, bug::deadlock, 44,
	 [] {
		 return given_up_second<mutex_>(
			 {.preemptions = 2, .max_reorder = 2});
	 }},
	{mutant::late_writes_without_flag, bug::data_race, 44,
	 [] {
		 return given_up_second<shared>(
			 {.preemptions = 2, .max_reorder = 2});
	 }},
	{mutant::admits_one_reader, bug::deadlock, 23776,
	 [] { return sections<shared>(three, "fMM"); }},
	{mutant::admits_one_reader, bug::deadlock, 10256,
	 [] { return sections<shared_fifo>(three, "fMM"); }},
	{mutant::announces_relaxed, bug::data_race, 312,
	 [] { return sections<shared_fifo>(three, "rlr"); }},
	{mutant::reader_barges_on, bug::failed_check, 0,
	 [] { return in_turn<shared>(three, "rlr"); }},
	{mutant::shared_told_for_ever, bug::deadlock, 840,
	 [] { return sections<shared>(two_one, "ll"); }},
	{mutant::shared_comes_unseen, bug::deadlock, 768,
	 [] { return sections<shared>(two_one, "ll"); }},
	{mutant::last_reader_tells_nobody, bug::deadlock, 3,
	 [] { return sections<shared>(one_each, "rl"); }},
	{mutant::no_hand_over_shared, bug::failed_check, 768,
	 [] { return told_in_vain<patient_shared_mutex, 0>(two_one); }},
	{mutant::shared_unlock_gives_up, bug::failed_check, 34,
	 [] { return sections<shared>(one_each, "rL"); }},
	{mutant::handed_and_counted, bug::data_race, 767,
	 [] { return sections<unit>(two_one, "ll"); }},
	{mutant::no_bound, bug::failed_check, 1,
	 [] { return over_its_bound(one_each); }},
	{mutant::interrupts_on, bug::deadlock, 11,
	 [] { return takes_and_brings<units>(one, "t", "b"); }},
	{mutant::head_stays, bug::dead_object, 3,
	 [] { return sections<unit>(one_each, "ll"); }},

	/* inheriting_mutex */
	{mutant::loan_stays_at_unlock, bug::failed_check, 3,
	 [] { return lends("aa"); }},
	{mutant::loan_is_all_given_back, bug::failed_check, 279,
	 [] { return lends("nab"); }},
	{mutant::one_loan_of_two, bug::failed_check, 279,
	 [] { return lends("nab"); }},
	{mutant::late_loan_stays, bug::failed_check, 33,
	 [] { return lends("aA"); }},
	{mutant::late_unmarks, bug::data_race, 37,
	 [] { return own_objects({}, "lL"); }},
	{mutant::chain_of_one_link, bug::failed_check, 1166,
	 [] { return lends("anb"); }},
	{mutant::waiter_is_not_moved, bug::failed_check, 1140,
	 [] {
		 return lending({.max_executions = 4000, .preemptions = 2},
				"anab");
	 }},
	{mutant::by_arrival, bug::failed_check, 9226,
	 [] { return lends("aaa"); }},
	{mutant::last_among_equals_first, bug::failed_check, 3,
	 [] { return (among_equals(), in_turn<inheriting>(three)); }},
	{mutant::kernel_is_not_told, bug::failed_check, 3,
	 [] { return lends("aa"); }},
	{mutant::late_in_the_list, bug::crash, 33, [] { return lends("aA"); }},
	{mutant::next_without_the_list, bug::crash, 7302,
	 [] { return lends("aaa"); }},
	{mutant::handed_without_the_flag, bug::deadlock, 7302,
	 [] { return lends("aaa"); }},
	{mutant::handed_and_waits, bug::failed_check, 3,
	 [] { return lends("aa"); }},
	{mutant::owner_stays, bug::panic, 3, [] { return lends("aa"); }},
	{mutant::next_is_not_woken, bug::deadlock, 3,
	 [] { return lends("aa"); }},
	{mutant::marks_by_store, bug::deadlock, 3, [] { return lends("aa"); }},
	{mutant::unlocks_past_waiters, bug::failed_check, 3,
	 [] { return lends("aa"); }},
	{mutant::waits_in_a_ring, bug::failed_check, 1229,
	 [] { return lends("qr"); }},
	{mutant::change_is_not_lent, bug::failed_check, 3,
	 [] { return lends("ap"); }},
	{mutant::death_is_not_told, bug::failed_check, 4,
	 [] { return lends("ea"); }},
	{mutant::dead_owner_stays, bug::deadlock, 3,
	 [] { return lends("ea"); }},
};

} // namespace

TEST_CASE("sleep: every mutant is found")
{
	for (const mistake &m : mistakes) {
		/* The larger are explored by test_sleep.cpp, in level full. */
		const bool large = m.within > 10'000;

		broken = mutant::none;
		const result right = large ? result{} : m.world();
		broken = m.which;
		const result wrong = m.world();
		broken = mutant::none;

		INFO(&m - mistakes << " " << right.message << wrong.message
				   << "\n"
				   << wrong.timeline);
		CHECK(right.ok());
		CHECK((right.exhaustive || large || right.left_out ||
		       right.complete + right.blocked >= most));
		CHECK(wrong.found == m.found);
		CHECK_FALSE(wrong.exhaustive);
		CHECK(wrong.complete <= m.within);
	}
}

TEST_CASE("sleep: a client that wakes before the change is found")
{
	CHECK(takes_and_brings<woken_too_early>(one_each, "tb").found ==
	      bug::deadlock);
}

/* The first waiter is told once more than it has to be. */
TEST_CASE("sleep: three mutants are no mistakes")
{
	for (mutant which : {mutant::tells_again, mutant::barger_clears_told,
			     mutant::late_clears_told}) {
		broken = which;
		CHECK(sections<mutex_>(two_one, "ll").ok());
		CHECK(sections<mutex_>(one_each, "Ll").ok());
		CHECK(freed<mutex_>(one_each, "Ll").ok());
		broken = mutant::none;
	}
}

} // namespace sleeping
