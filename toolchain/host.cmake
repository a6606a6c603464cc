# SPDX-License-Identifier: MIT
#
# What every host program of the tests is built with. Not part of the library:
# a project that embeds klock gets none of this.

find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_library(klock_warnings INTERFACE)
target_compile_options(klock_warnings INTERFACE -Wall -Wextra -Werror)

# Catch2, version 2 (Debian 12) or 3; tests include <catch.hpp>.
find_path(KLOCK_CATCH2_DIR NAMES catch2/catch.hpp catch2/catch_all.hpp)
if(NOT KLOCK_CATCH2_DIR)
	message(FATAL_ERROR
		"Catch2 was not found: run ./toolchain/setup, or install catch2")
endif()

# klock_label_slow(<test>...): what preset check leaves out (CONTRIBUTING.md).
# Together they are two thirds of the time that all tests take.
function(klock_label_slow)
	set_property(TEST ${ARGV} APPEND PROPERTY LABELS slow)
endfunction()
