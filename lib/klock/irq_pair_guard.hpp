/* SPDX-License-Identifier: MIT */
/* irq_pair_guard - moved: include <klock/irq_guard.hpp> */
#pragma once
#include <klock/irq_guard.hpp>
