/* SPDX-License-Identifier: MIT */
/*
 * cause - the orders whose absence makes an execution fail
 */
#pragma once

#include "exploration.hpp"
#include "memory.hpp"
#include "operations.hpp"
#include "reporter.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace model {

/* A stronger order of an operation, or a fence between two; or two are one. */
struct repair {
	u16 op;	       /* of a fence: of the operation that comes after it */
	u16 after = 0; /* a fence, and the operation before it */
	order by = order::seq_cst;
	bool joins = false; /* no fence: both are one read-modify-write */
};

/* The repairs with which the code is explored: none, unless a cause is sought.
 */
struct repair_list {
	bool empty() const { return all.empty(); }
	void set(std::vector<repair> some) { all = std::move(some); }
	void start_run();

	/* The order that an operation has. */
	order order_of(u16 op, order written) const;
	/* The CPU begins an operation; returns the order of the fence that
	 * comes before it; relaxed: none. */
	order fence_before(unsigned cpu, u16 op);
	/* Whether some make this no execution. */
	static bool forbids(const graph &, const std::vector<repair> &some);

      private:
	std::vector<repair> all;
	u16 last_op[max_cpus] = {}; /* of each CPU, in this run */
};

struct cause_finder {
	cause_finder(exploration &of, const operation_table &those_of_code,
		     reporter &to, model::memory &of_run, repair_list &some)
	    : task(of), operations(those_of_code), reports(to), memory(of_run),
	      repairs(some)
	{
	}

	/* Adds the missing orders to a finding. explore() explores the program
	 * again.
	 */
	void find(const std::function<void()> &explore);

      private:
	using repairs_of = std::vector<repair>;
	enum class outcome { right, fails, fails_else, unknown };

	bool fails(const shown_fault &, const repairs_of &, machine) const;
	void add_orders(const graph &, repairs_of &to) const;
	order light_fence(const event &before, const event &behind) const;
	bool removes(const shown_fault &, repairs_of all,
		     const repairs_of &more) const;
	void weaken(const shown_fault &, const repairs_of &had,
		    const repairs_of &orders, repairs_of &some) const;
	repairs_of least(const shown_fault &, const repairs_of &had,
			 repairs_of some) const;
	repairs_of missing(const shown_fault &, const repairs_of &had) const;
	outcome explore_again(const repairs_of &, machine);
	bool complete(repairs_of &, bool &sc);
	std::string text_of(const repair &, const shown_fault &) const;
	std::string text_of_rmw(const shown_fault &, bool &whole);
	std::string cause_of(const shown_fault &);

	exploration &task;
	const operation_table &operations;
	reporter &reports;
	model::memory &memory;
	repair_list &repairs;

	bug fault = bug::none;
	const std::function<void()> *explores = nullptr;
};

} // namespace model
