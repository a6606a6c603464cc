/* SPDX-License-Identifier: MIT */
#define watched_main watched_data
#include "watched.hpp"

#include "../kernel_data/kernel.cpp"
