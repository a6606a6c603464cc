/* SPDX-License-Identifier: MIT */
#define watched_main watched_startup
#include "watched.hpp"

#include "../kernel_startup/kernel.cpp"
