# SPDX-License-Identifier: MIT

# Catch2's main(), once.
add_library(klock_catch STATIC catch_main.cpp)
target_compile_features(klock_catch PUBLIC cxx_std_20)
target_include_directories(klock_catch PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(klock_catch SYSTEM PUBLIC ${KLOCK_CATCH2_DIR})

# What ends a test that stands still (watchdog.hpp), once.
add_library(klock_watchdog OBJECT watchdog.cpp)
target_link_libraries(klock_watchdog PRIVATE klock_catch klock_warnings)

# klock_add_catch_test(<name> LABELS <label>... SOURCES <file>...
#	LIBRARIES <target>... [SANITIZE thread|address,undefined])
#
# An executable of Catch2 tests, and one CTest entry that runs it. Those whose
# tests wait for threads, unit and native, have a watchdog in them.
function(klock_add_catch_test name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SANITIZE;TIMEOUT"
		"LABELS;SOURCES;LIBRARIES;ARGS")
	add_executable(${name} ${ARG_SOURCES})
	if("unit" IN_LIST ARG_LABELS OR "native" IN_LIST ARG_LABELS)
		target_sources(${name} PRIVATE $<TARGET_OBJECTS:klock_watchdog>)
	endif()
	target_link_libraries(${name} PRIVATE
		klock_catch klock_warnings Threads::Threads ${ARG_LIBRARIES})
	if(ARG_SANITIZE)
		# GCC warns that TSan does not model fences: the locks that
		# use one do not rely on it for what TSan looks at.
		target_compile_options(${name} PRIVATE
			-fsanitize=${ARG_SANITIZE} -fno-sanitize-recover=all
			$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
		# Every access that is written down is then one that is looked
		# at; and UBSan's checks take GCC a quarter of -O2's time. Not
		# for what steps through the instructions: klock_stepped().
		if(NOT ARG_SANITIZE STREQUAL "thread")
			target_compile_options(${name} PRIVATE -O0)
		endif()
		target_link_options(${name} PRIVATE
			-fsanitize=${ARG_SANITIZE})
	endif()
	if(NOT ARG_TIMEOUT)
		set(ARG_TIMEOUT 300)
	endif()
	# Where the compiler ran: __FILE__ may be relative to it (ccache).
	add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS}
		WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
	set_tests_properties(${name} PROPERTIES
		LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# klock_stepped(<file>...): tests that step through a lock's instructions, one
# by one. As many as are shipped, also where a sanitizer's test is built.
function(klock_stepped)
	set_source_files_properties(${ARGV} PROPERTIES COMPILE_OPTIONS -O2)
endfunction()
