/* SPDX-License-Identifier: MIT */
/*
 * exploration - an exploration's options, and its results so far
 */
#pragma once

#include <model/model.hpp>

#include <functional>
#include <string>

namespace model {

struct graph;

struct exploration {
	program *code = nullptr;
	const options *given = nullptr;
	result out;

	u64 runs = 0; /* of the code, or by what is known of it */
	u64 most_runs = ~u64{0};
	u64 turns_left_out = 0; /* of out.left_out: options.unroll */
	bool repairs = false;	/* explored with repairs: cause.hpp */
	/* Whether they make this no execution, of which nothing is reported. */
	std::function<bool(const graph &)> forbids = nullptr;

	/* Why everything is explored once more. */
	bool run_all = false; /* the learner was wrong, or a mark is new */
	bool endless = false; /* a loop has no end; not cut, no bound */

	/* Whether operations are told apart by their lines. */
	bool needs_lines() const
	{
		return given->record_uses || given->weaken || repairs;
	}

	u64 executions() const
	{
		return out.explored + out.blocked + out.panicked +
		       out.load_buffered;
	}
};

} // namespace model
