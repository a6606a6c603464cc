/* SPDX-License-Identifier: MIT */
/* A library that is compiled for no checker (part.cpp). */

extern "C" void KLOCK_NAME(int *to);

void KLOCK_NAME(int *to) { *to += 1; }
