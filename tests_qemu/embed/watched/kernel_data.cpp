/* SPDX-License-Identifier: MIT */
#include "watched.hpp"

#include "../kernel_data/kernel.cpp"
