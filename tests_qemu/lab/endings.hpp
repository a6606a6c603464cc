/* SPDX-License-Identifier: MIT */
/*
 * endings - every way in which a run can go wrong, on purpose
 *
 * The host's runner must tell them apart; its own tests boot the lab with
 * run=panic, fault, fail, hang and reset.
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Ends as the job says; returns only from job::fail, with the exit status. */
int end_badly(job how);

} // namespace lab
