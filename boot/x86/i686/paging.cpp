/* SPDX-License-Identifier: MIT */
/*
 * paging - what memory may be used for: i686, where it is off
 */
#include <boot/room.hpp>

namespace boot {

void protect_memory() {}

} // namespace boot
