# SPDX-License-Identifier: MIT

# Catch2, and its main(): the package's, or, of a version 2 without one,
# compiled here.
set(klock_catch_main Catch2::Catch2WithMain)
if(NOT TARGET ${klock_catch_main})
	set(klock_catch_main klock_catch_main)
	add_library(klock_catch_main STATIC catch_main.cpp)
	target_compile_options(klock_catch_main PRIVATE -O0 -g0)
	target_link_libraries(klock_catch_main PUBLIC Catch2::Catch2)
endif()
add_library(klock_catch INTERFACE)
target_link_libraries(klock_catch INTERFACE ${klock_catch_main})
target_compile_features(klock_catch INTERFACE cxx_std_20)
target_include_directories(klock_catch INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
# GCC looks for garbage from 1 GiB on: up to a tenth of the time to compile one.
target_compile_options(klock_catch INTERFACE
	$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
# Regular expressions, compiled once.
add_library(klock_pattern STATIC pattern.cpp)
target_compile_features(klock_pattern PRIVATE cxx_std_20)
target_compile_options(klock_pattern PRIVATE -O0 -g0)
target_link_libraries(klock_pattern PRIVATE klock_warnings)
target_link_libraries(klock_catch INTERFACE klock_pattern)

# Its header is compiled once for all tests that are compiled alike. Not with
# ccache, which by default keeps no object that was made so; GCC alone takes it
# for programs whose other options differ.
set(precompiled OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT
		"${CMAKE_CXX_COMPILER};${CMAKE_CXX_COMPILER_LAUNCHER}" MATCHES "ccache")
	set(precompiled ON)
endif()
option(KLOCK_PRECOMPILED "Precompile headers of Catch2 and the standard" ${precompiled})

function(klock_precompile name kind)
	string(MAKE_C_IDENTIFIER "klock_precompiled_${kind}" first)
	if(NOT TARGET ${first})
		set(nothing ${CMAKE_BINARY_DIR}/precompiled.cpp)
		file(CONFIGURE OUTPUT ${nothing} CONTENT "")
		add_library(${first} OBJECT ${nothing})
		target_link_libraries(${first} PRIVATE klock_catch)
		target_compile_options(${first} PRIVATE ${ARGN})
		target_precompile_headers(${first} PRIVATE <catch.hpp>)
	endif()
	target_precompile_headers(${name} REUSE_FROM ${first})
endfunction()

# klock_options(<option> <file>...): sources with an option of their own.
function(klock_options option)
	set_source_files_properties(${ARGN} PROPERTIES
		COMPILE_OPTIONS ${option} SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The watchdog, compiled once: it ends a test that stands still (watchdog.hpp).
add_library(klock_watchdog OBJECT watchdog.cpp)
target_link_libraries(klock_watchdog PRIVATE klock_catch klock_warnings)
target_compile_options(klock_watchdog PRIVATE -O0)

# klock_add_catch_test(<name> LABELS <label>... SOURCES <file>...
#	LIBRARIES <target>... [SANITIZE thread|address,undefined]
#	[LEVEL check|test|full] [OPTIMIZE 0|1|2])
#
# An executable of Catch2 tests, and one CTest entry that runs it. Those whose
# tests wait for threads, unit and native, have a watchdog in them.
function(klock_add_catch_test name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG ""
		"SANITIZE;TIMEOUT;LEVEL;OPTIMIZE"
		"LABELS;SOURCES;LIBRARIES;ARGS")
	add_executable(${name} ${ARG_SOURCES})
	# Each lock's code is compiled once for all sources of a test.
	set_target_properties(${name} PROPERTIES
		UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
	if("unit" IN_LIST ARG_LABELS OR "native" IN_LIST ARG_LABELS)
		target_sources(${name} PRIVATE $<TARGET_OBJECTS:klock_watchdog>)
		# Its report has functions' names.
		set_target_properties(${name} PROPERTIES ENABLE_EXPORTS TRUE)
	endif()
	target_link_libraries(${name} PRIVATE
		klock_catch klock_warnings Threads::Threads ${ARG_LIBRARIES})
	set(options)
	if(ARG_SANITIZE)
		# GCC warns that TSan does not model fences: the locks that
		# use one do not rely on it for what TSan looks at.
		set(options
			-fsanitize=${ARG_SANITIZE} -fno-sanitize-recover=all
			$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
		# Every access that is written down is then one that is looked
		# at; and UBSan's checks take GCC a quarter of -O2's time, TSan
		# at -O1 half of it. Not for what steps through the
		# instructions: klock_stepped().
		if(ARG_SANITIZE STREQUAL "thread")
			list(APPEND options -O1)
		else()
			list(APPEND options -O0)
		endif()
		target_compile_options(${name} PRIVATE ${options})
		target_link_options(${name} PRIVATE
			-fsanitize=${ARG_SANITIZE})
	endif()
	# A tenth of the time is debugging information, which the checker and
	# sanitizers read. For gdb: -DCMAKE_BUILD_TYPE=Debug.
	if(NOT ARG_SANITIZE AND NOT "${ARG_LIBRARIES}" MATCHES "model")
		target_compile_options(${name} PRIVATE
			$<$<CONFIG:RelWithDebInfo>:-g0>)
	endif()
	# The templates of every lock compile in half the time without -O2, and
	# run for a second. The precompiled Catch2 has the same options: GCC
	# takes no other.
	set(kind "${ARG_SANITIZE}")
	if(DEFINED ARG_OPTIMIZE)
		list(APPEND options -O${ARG_OPTIMIZE})
		target_compile_options(${name} PRIVATE -O${ARG_OPTIMIZE})
		string(APPEND kind "O${ARG_OPTIMIZE}")
	endif()
	# Left out if <atomic>, which Catch2's header includes, is replaced.
	if(KLOCK_PRECOMPILED AND NOT
			"${ARG_LIBRARIES}" MATCHES "klock::model_(std|plain)")
		klock_precompile(${name} "${kind}" ${options})
	endif()
	if(NOT ARG_TIMEOUT)
		set(ARG_TIMEOUT 1800)
	endif()
	# The folder in which the compiler ran: __FILE__ may be relative to it
	# (ccache).
	add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS}
		WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
	set_tests_properties(${name} PROPERTIES
		LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
	if(NOT ARG_LEVEL)
		set(ARG_LEVEL test)
	endif()
	klock_level(${ARG_LEVEL} TESTS ${name} BUILDS ${name})
endfunction()

# klock_deep(<test>...): what they have labelled [deep], in level full.
function(klock_deep)
	foreach(test IN LISTS ARGV)
		get_property(labels TEST ${test} PROPERTY LABELS)
		list(REMOVE_ITEM labels check test full)
		add_test(NAME ${test}_deep COMMAND ${test} [deep]
			WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
		set_tests_properties(${test}_deep PROPERTIES
			LABELS "${labels}" TIMEOUT 1800)
		klock_level(full TESTS ${test}_deep)
	endforeach()
endfunction()

# klock_stepped(<file>...): tests that step through a lock's instructions, one
# by one. As many as are shipped, also where a sanitizer's test is built.
function(klock_stepped)
	klock_options(-O2 ${ARGV})
endfunction()
