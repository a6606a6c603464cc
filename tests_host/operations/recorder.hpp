/* SPDX-License-Identifier: MIT */
/*
 * recorder - an engine that does nothing but note what it is asked for
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <operations/table.hpp>

#include <vector>

namespace klock::tests {

namespace hooked = arch::hooked;

enum class request {
	load,
	store,
	rmw,
	swap,
	fence,
	wait,
	exchange_wait,
	patient_wait,
	timed_wait,
	either
};

struct call {
	request what;
	order ord;
	site where;
	hooked::window at{};
	u64 operand = 0;
	u64 expected = 0;
	hooked::update how{};
	bool paced = false;
	u32 turns = 0; /* that the pace asks for */
};

/* Finds one word in every location; runs from birth to death. */
struct recorder final : hooked::engine {
	u64 word;
	std::vector<call> calls;

	explicit recorder(u64 found) : word(found) { hooked::running = this; }
	~recorder() { hooked::running = nullptr; }

	void born(const void *, usize) override {}
	void dead(const void *, usize) override {}

	u64 load(hooked::window w, order o, site s) override
	{
		calls.push_back({request::load, o, s, w});
		return word;
	}
	void store(hooked::window w, u64 v, order o, site s) override
	{
		calls.push_back({request::store, o, s, w, v});
	}
	u64 rmw(hooked::window w, hooked::update how, u64 v, order o,
		site s) override
	{
		calls.push_back({request::rmw, o, s, w, v, 0, how});
		return word;
	}
	bool compare_exchange(hooked::window w, u64 &expected, u64 desired,
			      order o, site s) override
	{
		const bool same = expected == word;

		calls.push_back({request::swap, o, s, w, desired, expected});
		expected = word;
		return same;
	}
	void fence(order o, site s) override
	{
		calls.push_back({request::fence, o, s});
	}

	/* Looks once, and says of the predicate whether it held. */
	u64 await(hooked::window w, hooked::test done, hooked::pace pace,
		  order o, site s) override
	{
		calls.push_back({request::wait,
				 o,
				 s,
				 w,
				 done(word),
				 0,
				 {},
				 pace.call != nullptr,
				 pace(word)});
		return word;
	}
	u64 await_patient(hooked::window w, hooked::patience patience, order o,
			  site s) override
	{
		calls.push_back(
			{request::patient_wait, o, s, w, patience(word)});
		return word;
	}
	u64 await_until(hooked::window w, hooked::test done, u64 deadline,
			order o, site s) override
	{
		calls.push_back(
			{request::timed_wait, o, s, w, done(word), deadline});
		return word;
	}
	u64 await_exchange(hooked::window w, u64 v, hooked::test done, order o,
			   site s) override
	{
		calls.push_back(
			{request::exchange_wait, o, s, w, v, done(word)});
		return word;
	}
	void await_either(hooked::window w, hooked::test done, hooked::window,
			  hooked::test other_done, order o, site s) override
	{
		calls.push_back({request::either, o, s, w, done(word),
				 other_done(word)});
	}

	void read_plain(const void *, usize, site) override {}
	void write_plain(const void *, const void *, usize, site) override {}
	void relax(u32) override {}
	u64 cycles() override { return 0; }
	bool irq_flag(bool) override { return true; }
};

} // namespace klock::tests
