/* SPDX-License-Identifier: MIT */
/*
 * percpu_part - what x86 keeps in each CPU's block (private to boot)
 */
#pragma once

#include <boot/x86/segments.hpp>

namespace boot {

struct percpu_part {
	segment_tables segments = {}; /* its GDT and TSS */
};

inline constexpr const char *hardware_id_name = "APIC id";

} // namespace boot
