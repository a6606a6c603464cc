# SPDX-License-Identifier: MIT
#
# The flags of every host program of the tests. They are not part of the
# library: a project that embeds klock gets none of them.

include(${CMAKE_CURRENT_LIST_DIR}/need.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/python.cmake)

find_package(Threads REQUIRED)

find_package(Python3 QUIET COMPONENTS Interpreter)
klock_need(Python3_Interpreter_FOUND python3)
message(STATUS "Python: ${Python3_EXECUTABLE}, ${Python3_VERSION}")
set(KLOCK_PLOT ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/toolchain/plot.py
	--optional)

# A new compiler brings new warnings, which stop nobody but our own CI: it sets
# CMake's CMAKE_COMPILE_WARNING_AS_ERROR.
add_library(klock_warnings INTERFACE)
target_compile_options(klock_warnings INTERFACE -Wall -Wextra)

# Catch2, version 2 (Debian 12) or 3; tests include <catch.hpp>.
find_package(Catch2 QUIET)
klock_need(Catch2_FOUND Catch2)

# Three levels, each with what the ones before have: check is the inner loop,
# test is README's line, full is for CI and releases (CONTRIBUTING.md).
# A level is a label of its tests and a target that builds what they need.
add_custom_target(build_check)
add_custom_target(build_test)
add_dependencies(build_test build_check)

# klock_level(<check|test|full> [TESTS <test>...] [BUILDS <target>...])
function(klock_level level)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "TESTS;BUILDS")
	if(NOT level MATCHES "^(check|test|full)$")
		message(FATAL_ERROR "${level}: no level")
	endif()
	if(ARG_TESTS)
		set_property(TEST ${ARG_TESTS} APPEND PROPERTY LABELS ${level})
		set_property(GLOBAL APPEND PROPERTY KLOCK_LEVELLED ${ARG_TESTS})
	endif()
	if(ARG_BUILDS AND NOT level STREQUAL "full")
		add_dependencies(build_${level} ${ARG_BUILDS})
	endif()
endfunction()

# klock_levels_are_whole(): each test has a level. At the end of the list.
function(klock_levels_are_whole)
	get_property(levelled GLOBAL PROPERTY KLOCK_LEVELLED)
	klock_tests_below(tests ${PROJECT_SOURCE_DIR})
	list(REMOVE_ITEM tests ${levelled})
	if(tests)
		list(JOIN tests " " tests)
		message(FATAL_ERROR "klock_level() has no level for: ${tests}")
	endif()
	add_custom_target(levels COMMAND ${Python3_EXECUTABLE} -B
		${PROJECT_SOURCE_DIR}/toolchain/levels.py ${CMAKE_BINARY_DIR}
		USES_TERMINAL VERBATIM)
endfunction()

# klock_tests_below(<variable> <folder>)
function(klock_tests_below variable folder)
	get_property(found DIRECTORY ${folder} PROPERTY TESTS)
	get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
	foreach(below IN LISTS folders)
		klock_tests_below(more ${below})
		list(APPEND found ${more})
	endforeach()
	set(${variable} ${found} PARENT_SCOPE)
endfunction()
