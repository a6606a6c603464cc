/* SPDX-License-Identifier: MIT */
/* seq_words - moved: include <klock/seq_lock.hpp> */
#pragma once
#include <klock/seq_lock.hpp>
