/* SPDX-License-Identifier: MIT */
/* pair_guard - moved: include <klock/guard.hpp> */
#pragma once
#include <klock/guard.hpp>
