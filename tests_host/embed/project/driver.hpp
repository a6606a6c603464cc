/* SPDX-License-Identifier: MIT */
/*
 * driver - a piece of a kernel: threads and interrupt handlers count events
 */
#pragma once

void driver_event();
unsigned driver_events();
