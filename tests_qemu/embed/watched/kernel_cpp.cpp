/* SPDX-License-Identifier: MIT */
#include "watched.hpp"

#include "../kernel_cpp/kernel.cpp"
