/* SPDX-License-Identifier: MIT */
/* atomic_fields - moved: include <klock/atomic.hpp> */
#pragma once
#include <klock/atomic.hpp>
