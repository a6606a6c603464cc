/* SPDX-License-Identifier: MIT */
/*
 * called - what entry.S and harts.cpp agree on: machine mode
 */
#pragma once

/* struct called_hart */
#define CALLED_HART 0
#define CALLED_BLOCK 8
#define CALLED_SIZE 16
