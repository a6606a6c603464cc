/* SPDX-License-Identifier: MIT */
/* counter - moved: include <klock/atomic.hpp> */
#pragma once
#include <klock/atomic.hpp>
