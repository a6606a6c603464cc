/* SPDX-License-Identifier: MIT */
/*
 * recorder - an engine that does nothing but note what it is asked for, and how
 * that is compared with the operation's name
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <operations/table.hpp>

#include <set>
#include <string>
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

/* -- The calls of one operation, against its name --------- */

/* The call site of the operations. */
inline constexpr site there{"caller.cpp", 42};

/*
 * Operations that were not as their names say: "fetch_or_acq_rel of 4 bytes:
 * its order"
 */
using findings = std::set<std::string>;

/* One operation over x was asked for: this one, by its name. */
struct look {
	findings &wrong;
	const char *name;
	usize bytes;
	const recorder &r;

	void expect(bool holds, const char *what) const
	{
		if (!holds)
			wrong.insert(std::string(name) + " of " +
				     std::to_string(bytes) + " bytes: " + what);
	}

	/* The one call; it looks at bits of x from shift on. */
	call at(request what, const void *x, unsigned shift, usize bits) const
	{
		expect(r.calls.size() == 1, "how many calls");
		const call c = r.calls.empty()
				       ? call{what, order::relaxed, there}
				       : r.calls[0];

		expect(c.what == what, "another operation");
		expect(c.ord == order_of(name), "its order");
		expect(c.where.line == there.line, "where it is called");
		expect(c.at.at == x && c.at.bytes == bytes, "its location");
		expect(c.at.shift == shift && c.at.bits == bits, "its bits");
		return c;
	}
};

} // namespace klock::tests
