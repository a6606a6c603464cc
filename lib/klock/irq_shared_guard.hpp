/* SPDX-License-Identifier: MIT */
/* irq_shared_guard - moved: include <klock/shared_guard.hpp> */
#pragma once
#include <klock/shared_guard.hpp>
