/* SPDX-License-Identifier: MIT */
/* A library that is compiled for no checker (part.cpp). */

extern "C" void beyond(int *to);

void beyond(int *to) { *to += 1; }
