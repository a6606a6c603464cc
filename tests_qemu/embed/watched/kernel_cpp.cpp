/* SPDX-License-Identifier: MIT */
#define watched_main watched_cpp
#include "watched.hpp"

#include "../kernel_cpp/kernel.cpp"
