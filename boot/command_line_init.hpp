/* SPDX-License-Identifier: MIT */
/*
 * command_line_init - where the words come from (private to boot)
 */
#pragma once

#include <boot/machine.hpp>

namespace boot {

/* Copies and splits them. Once, before anybody asks for a word. */
void command_line_init(const boot_info &info);

} // namespace boot
