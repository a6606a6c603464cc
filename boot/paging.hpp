/* SPDX-License-Identifier: MIT */
/*
 * paging - what memory may be used for (private to boot)
 */
#pragma once

namespace boot {

/*
 * From now on, page 0 and the pages below the stacks are missing, and code and
 * constants are read-only: null pointers, overflowing stacks and wild writes
 * fault. On i686, which runs without paging, nothing changes. Once, on the
 * first CPU, before the others start.
 */
void protect_memory();

} // namespace boot
