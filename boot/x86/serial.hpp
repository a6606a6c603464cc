/* SPDX-License-Identifier: MIT */
/*
 * serial - COM1, polled, 115200 8N1 (private to boot)
 */
#pragma once

namespace boot {

/* Sets the line up; where nothing answers, the others do nothing. */
void serial_init();

/* Waits until the line takes c. The console's lock is held. */
void serial_put(char c);

/* Waits until all is sent. Any context. */
void serial_drain();

} // namespace boot
