/* SPDX-License-Identifier: MIT */
/*
 * kernel - everything that a payload may use of boot
 *
 * A payload is a function that boot calls when the machine is up:
 *
 *	#include <boot/kernel.hpp>
 *
 *	int payload_main()
 *	{
 *		boot::print("hello from %u CPUs\n", boot::cpu_count());
 *		return 0;
 *	}
 */
#pragma once

#include <boot/clock.hpp>
#include <boot/command_line.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/format.hpp>
#include <boot/panic.hpp>
#include <boot/interrupts.hpp>
#include <boot/types.hpp>

/*
 * Defined by whoever links with boot. Called once, on CPU 0, with interrupts
 * on, all other CPUs asleep. 0: the run has passed (exit_code::pass); anything
 * else: it has failed (exit_code::fail).
 */
int payload_main();
