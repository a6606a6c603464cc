/* SPDX-License-Identifier: MIT */
/*
 * paging - what else must be mapped, by architecture: x86 (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* The running CPU's part; each CPU, by itself. */
void memory_types_init();

/*
 * A framebuffer that lies there can be written, at the rate of one. Null, or
 * why it cannot. Once.
 */
const char *map_screen(u64 address, u64 size);

} // namespace boot
