/* SPDX-License-Identifier: MIT */
/* Nothing: what CMake precompiles Catch2's header for (klock_tests.cmake). */
