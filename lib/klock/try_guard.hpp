/* SPDX-License-Identifier: MIT */
/* try_guard - moved: include <klock/guard.hpp> */
#pragma once
#include <klock/guard.hpp>
