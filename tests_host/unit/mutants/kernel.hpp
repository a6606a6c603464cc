/* SPDX-License-Identifier: MIT */
/* The pretended kernel, in the one file that a mutant is compiled in. */
#pragma once

#include "../order_kernel.cpp"
#include "../pretended_kernel.cpp"
