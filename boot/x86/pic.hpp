/* SPDX-License-Identifier: MIT */
/*
 * pic - the two 8259 interrupt controllers, out of the way (private to boot)
 */
#pragma once

namespace boot {

/* Moves their vectors off the exceptions and masks all of them. */
void pic_disable();

} // namespace boot
