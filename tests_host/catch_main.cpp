/* SPDX-License-Identifier: MIT */
/* Catch2 version 2 makes its main() here; version 3 brings one along. */
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
