/* SPDX-License-Identifier: MIT */
/* atomic_pair - moved: include <klock/atomic.hpp> */
#pragma once
#include <klock/atomic.hpp>
