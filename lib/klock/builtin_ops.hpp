/* SPDX-License-Identifier: MIT */
/* builtin_ops - moved: include <klock/detail/builtin_ops.hpp> */
#pragma once
#include <klock/detail/builtin_ops.hpp>
