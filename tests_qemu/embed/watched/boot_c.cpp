/* SPDX-License-Identifier: MIT */
#define watched_main watched_c
#include "watched.hpp"

#include "../kernel_c/boot_c.cpp"
