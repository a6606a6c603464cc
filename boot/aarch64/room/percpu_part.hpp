/* SPDX-License-Identifier: MIT */
/*
 * percpu_part - what AArch64 keeps in each CPU's block (private to boot)
 */
#pragma once

#include <boot/types.hpp>
#include <boot/board/vector_mail.hpp>

namespace boot {

struct percpu_part {
	vector_mail mail;	 /* what its interrupt from other CPUs means */
	u8 timer_vector = 0;	 /* of its timer; 0: it does not run */
	u64 timer_period = 0;	 /* 0: once */
	usize redistributor = 0; /* its part of the GIC */
};

inline constexpr const char *hardware_id_name = "MPIDR";

} // namespace boot
