/* SPDX-License-Identifier: MIT */
/*
 * context - what each CPU is in the middle of
 */
#include "context.hpp"

#include <boot/kernel.hpp>

namespace lab {

namespace {

/* Written by its own CPU alone, whose handlers end before it goes on. */
constinit volatile klock::context now[boot::max_cpus] = {};

} // namespace

in_handler::in_handler(unsigned on, klock::context what)
    : cpu(on), before(now[on])
{
	now[cpu] = what;
}

in_handler::~in_handler() { now[cpu] = before; }

} // namespace lab

extern "C" int klock_os_context(void)
{
	return static_cast<int>(lab::now[boot::this_cpu()]);
}
