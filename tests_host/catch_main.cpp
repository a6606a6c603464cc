/* SPDX-License-Identifier: MIT */
/* main() of a Catch2 version 2 whose package brings none along. */
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
