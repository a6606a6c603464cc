/* SPDX-License-Identifier: MIT */
/*
 * cause - what a failing execution shows to be missing in the code
 */
#pragma once

#include "graph.hpp"
#include "objects.hpp"
#include "timeline.hpp"

#include <memory>

namespace model {

/* A stronger order of an operation, or a full fence between two. */
struct repair {
	u16 op;	       /* of a fence: of the operation that comes after it */
	u16 after = 0; /* a fence, and the operation before it */
	order by = order::seq_cst;
};

/* The execution that a finding shows, and its rows. */
struct shown_fault {
	std::unique_ptr<graph> of; /* null: none is shown */
	timeline rows;

	/* Two accesses without an order: the first, and who came upon it. */
	conflict first;
	unsigned cpu = 0;
	unsigned ran = 0; /* events of that CPU before it */
};

} // namespace model
