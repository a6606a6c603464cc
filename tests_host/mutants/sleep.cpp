/* SPDX-License-Identifier: MIT */
/*
 * sleep - the worlds in which the mutants of sleep.mutants are found
 *
 * Run: sleep WORLD. Prints what the checker found; the exit status is 0 if all
 * is well, and nothing was left out.
 */
#include "../model/futex_worlds.hpp"
#include "../model/inheriting_worlds.hpp"

#include <cstdio>

namespace sleeping {

namespace {

using model::bug;

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

/* The larger worlds are explored by test_sleep.cpp, in level full. */
constexpr u64 most = 40'000;

const options one{.sections = {1}}, one_each{.sections = {1, 1}},
	two_one{.sections = {2, 1}}, one_two{.sections = {1, 2}},
	three{.sections = {1, 1, 1}, .max_executions = most},
	three_times{.sections = {3, 1}, .max_executions = most},
	twice_last{.sections = {1, 1, 2}, .max_executions = most},
	some{.max_executions = most},
	few{.max_executions = 4000, .preemptions = 2},
	bounded{.preemptions = 2, .max_reorder = 2};

result futex(const char *words) { return on_addresses(some, words); }
result lends(const char *words) { return lending(some, words); }

using nested = one_unit<nesting_tickets>;

struct world {
	const char *name;
	result (*explore)();
	/* Leaves executions out. */
	bool bounded = false;
};

/* The lock, what is done with it, the CPUs' roles; how often, if not once. */
const world all_worlds[] = {
	{"answer brings wb",
	 [] { return takes_and_brings<answer>(one_each, "wb"); }},
	{"queue brings wb",
	 [] { return takes_and_brings<queue>(one_each, "wb"); }},
	{"mutex ll", [] { return sections<mutex_>(one_each, "ll"); }},
	{"nested ll", [] { return sections<nested>(one_each, "ll"); }},
	{"mutex llu", [] { return sections<mutex_>(three, "llu"); }},
	{"unit ll", [] { return sections<unit>(one_each, "ll"); }},
	{"queue freed by taker",
	 [] { return freed_by_taker<queue>(one_each); }},
	{"answer brings Wb",
	 [] { return takes_and_brings<answer>(one_each, "Wb"); }},
	{"late and asks", [] { return late_and_asks(one_each); }},
	{"under_spin brings wb",
	 [] { return takes_and_brings<under_spin>(one_each, "wb"); }},
	{"under_spin brings wwb 1 1 2",
	 [] { return takes_and_brings<under_spin>(twice_last, "wwb"); }},
	{"under_spin brings wWb",
	 [] { return takes_and_brings<under_spin>(three, "wWb"); }},
	{"queue brings wwb 1 1 2",
	 [] { return takes_and_brings<queue>(twice_last, "wwb"); }},
	{"served in order", [] { return served_in_order(three); }},
	{"unit freed Ll", [] { return freed<unit>(one_each, "Ll"); }},
	{"mutex freed Ll", [] { return freed<mutex_>(one_each, "Ll"); }},
	{"mutex Ll", [] { return sections<mutex_>(one_each, "Ll"); }},
	{"mutex lll", [] { return sections<mutex_>(three, "lll"); }},
	{"mutex ll 2 1", [] { return sections<mutex_>(two_one, "ll"); }},
	{"mutex freed Ll 1 2", [] { return freed<mutex_>(one_two, "Ll"); }},
	{"mutex in turn", [] { return in_turn<mutex_>(three); }},
	{"fifo lll", [] { return sections<fifo>(three, "lll"); }},
	{"mutex told in vain",
	 [] { return failed_wakeups<patient_mutex, 1>(three_times); }},
	{"mutex Ll 2 1", [] { return sections<mutex_>(two_one, "Ll"); }},
	{"queue brings Wb",
	 [] { return takes_and_brings<queue>(one_each, "Wb"); }},
	{"units brings Wb",
	 [] { return takes_and_brings<units>(one_each, "Wb"); }},
	{"early brings Wwb",
	 [] { return takes_and_brings<early>(three, "Wwb"); }},
	{"queue brings wwe",
	 [] { return takes_and_brings<queue>(three, "wwe"); }},
	{"under_mutex brings wb",
	 [] { return takes_and_brings<under_mutex>(one_each, "wb"); }},
	{"shared mnL", [] { return sections<shared>(three, "mnL"); }},
	{"shared given up", [] { return given_up<shared>(some); }},
	{"mutex given up second",
	 [] { return given_up_second<mutex_>(bounded); }, true},
	{"shared given up second",
	 [] { return given_up_second<shared>(bounded); }, true},
	{"shared fMM", [] { return sections<shared>(three, "fMM"); }},
	{"shared_fifo fMM", [] { return sections<shared_fifo>(three, "fMM"); }},
	{"shared_fifo rlr", [] { return sections<shared_fifo>(three, "rlr"); }},
	{"shared in turn rlr", [] { return in_turn<shared>(three, "rlr"); }},
	{"shared ll 2 1", [] { return sections<shared>(two_one, "ll"); }},
	{"shared rl", [] { return sections<shared>(one_each, "rl"); }},
	{"shared told in vain",
	 [] { return failed_wakeups<patient_shared_mutex, 0>(two_one); }},
	{"shared rL", [] { return sections<shared>(one_each, "rL"); }},
	{"unit ll 2 1", [] { return sections<unit>(two_one, "ll"); }},
	{"over its bound", [] { return over_its_bound(one_each); }},
	{"units brings w b by a handler",
	 [] { return takes_and_brings<units>(one, "w", "b"); }},
	{"lends a a", [] { return lends("a a"); }},
	{"lends spinning a a",
	 [] { return lending<spinning_inheriting>(some, "a a"); }},
	{"lends ba a b", [] { return lends("ba a b"); }},
	{"lends a A", [] { return lends("a A"); }},
	{"inheriting in objects of their own lL",
	 [] { return own_objects({}, "lL"); }},
	{"lends a ba b", [] { return lends("a ba b"); }},
	{"lends a ba a b", [] { return lending(few, "a ba a b"); }, true},
	{"lends a a a", [] { return lends("a a a"); }},
	{"inheriting in turn among equals",
	 [] { return among_equals(), in_turn<inheriting>(three); }},
	{"lends bA aB", [] { return lends("bA aB"); }},
	{"lends a ^", [] { return lends("a ^"); }},
	{"lends a! a", [] { return lends("a! a"); }},
	{"futex w0 d0k01", [] { return futex("w0 d0k01"); }},
	{"futex W0 d0k01", [] { return futex("W0 d0k01"); }},
	{"futex S0 c0r01 k11", [] { return futex("S0 c0r01 k11"); }},
	{"futex X0 r01 r10", [] { return futex("X0 r01 r10"); }},
	{"futex S0 r02 k21", [] { return futex("S0 r02 k21"); }},
	{"futex S0 r00 k01", [] { return futex("S0 r00 k01"); }},
	{"futex a01 c1k11", [] { return futex("a01 c1k11"); }},
	{"futex a01 c0k01 c1k11", [] { return futex("a01 c0k01 c1k11"); }},
	{"futex A01 c1k11", [] { return futex("A01 c1k11"); }},
	{"byte ll", [] { return sections<byte_once>(one_each, "ll"); }},
	{"byte freed ll", [] { return freed<byte_once>(one_each, "ll"); }},
	{"byte in turn", [] { return in_turn<byte_fifo>(three); }},
};

const char *text(bug found)
{
	switch (found) {
	case bug::none:
		return "no bug";
	case bug::data_race:
		return "data_race";
	case bug::failed_check:
		return "failed_check";
	case bug::deadlock:
		return "deadlock";
	case bug::dead_object:
		return "dead_object";
	case bug::panic:
		return "panic";
	case bug::crash:
		return "crash";
	default:
		return "another bug";
	}
}

/* Whether all executions went well, or as many as were wanted. */
bool is_right(const world &w, const result &r)
{
	return r.ok() && (r.exhaustive || (w.bounded && r.left_out) ||
			  r.limit == "max_executions");
}

} // namespace

} // namespace sleeping

int main(int, char **arguments)
{
	using namespace sleeping;

	for (const world &w : all_worlds) {
		if (std::strcmp(w.name, arguments[1]) != 0)
			continue;
		const result r = w.explore();

		std::printf("%s: %s in %llu executions\n%s\n%s", text(r.found),
			    r.message.c_str(),
			    static_cast<unsigned long long>(r.complete),
			    r.limit.c_str(), r.timeline.c_str());
		return is_right(w, r) ? 0 : 1;
	}
	std::printf("there is no such world\n");
	return 2;
}
