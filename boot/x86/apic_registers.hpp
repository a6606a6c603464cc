/* SPDX-License-Identifier: MIT */
/*
 * apic_registers - the local APIC's registers (private to boot)
 *
 * Source: Intel SDM volume 3A, Local APIC Register Address Map.
 */
#pragma once

#include <boot/types.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

inline constexpr u32 apic_id_register = 0x020;
inline constexpr u32 apic_task_priority = 0x080;
inline constexpr u32 apic_eoi = 0x0b0;
inline constexpr u32 apic_spurious = 0x0f0;
inline constexpr u32 apic_in_service = 0x100; /* 8 of them, 16 bytes apart */
inline constexpr u32 apic_icr_low = 0x300;
inline constexpr u32 apic_icr_high = 0x310;
inline constexpr u32 apic_lvt_timer = 0x320;
inline constexpr u32 apic_lvt_lint0 = 0x350;
inline constexpr u32 apic_timer_initial = 0x380;
inline constexpr u32 apic_timer_current = 0x390;
inline constexpr u32 apic_timer_divide = 0x3e0;

inline constexpr u32 apic_software_enable = 1 << 8;
inline constexpr u32 apic_lvt_masked = 1 << 16;
inline constexpr u32 apic_timer_mode_periodic = 1 << 17;
inline constexpr u32 apic_timer_divide_by_16 = 0x3;

/* Its address, the same for all CPUs; 0: it is none that boot can use. */
extern usize apic_base;

/* x2APIC mode: the same registers as MSRs. Of all CPUs, or of none. */
extern bool apic_is_x2apic;

/* Intel SDM volume 3A, x2APIC Register Address Space */
constexpr u32 x2apic_msr(u32 at) { return 0x800 + at / 16; }

inline u32 apic_read(u32 at)
{
	if (apic_is_x2apic)
		return static_cast<u32>(read_msr(x2apic_msr(at)));
	return *physical<volatile u32>(apic_base + at);
}

inline void apic_write(u32 at, u32 value)
{
	if (apic_is_x2apic)
		write_msr(x2apic_msr(at), value);
	else
		*physical<volatile u32>(apic_base + at) = value;
}

} // namespace boot
