/* SPDX-License-Identifier: MIT */
/*
 * The hosted archive's functions about threads. Weak: a program's own win. In
 * a file without locks: there they would be inlined, the program's own or not.
 */
#include <klock/host_parking.hpp>
