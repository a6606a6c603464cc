/* SPDX-License-Identifier: MIT */
/*
 * gate - where the code under test calls the checker, and comes back from it
 *
 * In between, operator new is the checker's (body.hpp).
 */
#include <model/body.hpp>

namespace {

using namespace klock::arch;
using namespace klock::arch::hooked;
using klock::order;
using klock::u32;
using klock::u64;
using klock::usize;
using model::detail::checker_runs;

struct gate final : engine {
	engine *to = nullptr;

	void born(const void *at, usize bytes) override
	{
		const checker_runs now;
		to->born(at, bytes);
	}
	void dead(const void *at, usize bytes) override
	{
		const checker_runs now;
		to->dead(at, bytes);
	}
	u64 load(window w, order o, site s) override
	{
		const checker_runs now;
		return to->load(w, o, s);
	}
	void store(window w, u64 v, order o, site s) override
	{
		const checker_runs now;
		to->store(w, v, o, s);
	}
	u64 rmw(window w, update how, u64 operand, order o, site s) override
	{
		const checker_runs now;
		return to->rmw(w, how, operand, o, s);
	}
	bool compare_exchange(window w, u64 &expected, u64 desired, order o,
			      site s) override
	{
		const checker_runs now;
		return to->compare_exchange(w, expected, desired, o, s);
	}
	bool compare_exchange_or(window w, u64 &expected, u64 desired, order o,
				 order failed, bool weak, site s) override
	{
		const checker_runs now;
		return to->compare_exchange_or(w, expected, desired, o, failed,
					       weak, s);
	}
	void advance(window all, u64 from, u64 till, order o, site s) override
	{
		const checker_runs now;
		to->advance(all, from, till, o, s);
	}
	void fence(order o, site s) override
	{
		const checker_runs now;
		to->fence(o, s);
	}
	u64 await(window w, test done, pace p, order o, site s) override
	{
		const checker_runs now;
		return to->await(w, done, p, o, s);
	}
	u64 await_patient(window w, patience p, order o, site s) override
	{
		const checker_runs now;
		return to->await_patient(w, p, o, s);
	}
	u64 await_until(window w, test done, u64 deadline, order o,
			site s) override
	{
		const checker_runs now;
		return to->await_until(w, done, deadline, o, s);
	}
	u64 await_exchange(window w, u64 v, test done, order o, site s) override
	{
		const checker_runs now;
		return to->await_exchange(w, v, done, o, s);
	}
	void await_either(window a, test a_done, window b, test b_done, order o,
			  site s) override
	{
		const checker_runs now;
		to->await_either(a, a_done, b, b_done, o, s);
	}
	void wait_while(window w, u64 old, order o, site s) override
	{
		const checker_runs now;
		to->wait_while(w, old, o, s);
	}
	void notify(window w, site s) override
	{
		const checker_runs now;
		to->notify(w, s);
	}
	void read_plain(const void *at, usize bytes, site s) override
	{
		const checker_runs now;
		to->read_plain(at, bytes, s);
	}
	void write_plain(const void *at, const void *with, usize bytes,
			 site s) override
	{
		const checker_runs now;
		to->write_plain(at, with, bytes, s);
	}
	void relax(u32 turns) override
	{
		const checker_runs now;
		to->relax(turns);
	}
	u64 cycles() override
	{
		const checker_runs now;
		return to->cycles();
	}
	bool irq_flag(bool enabled) override
	{
		const checker_runs now;
		return to->irq_flag(enabled);
	}
};

} // namespace

klock::arch::hooked::engine *model::detail::gate_to(engine &e)
{
	static gate one;

	one.to = &e;
	return &one;
}
