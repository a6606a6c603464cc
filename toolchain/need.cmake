# SPDX-License-Identifier: MIT

# klock_need(<variable> <what it is>): ends the configuration where the variable
# is false, as of a find_ that has found nothing.
function(klock_need variable what)
	if(NOT ${variable})
		message(FATAL_ERROR "${what} was not found: run ./toolchain/setup, "
			"or leave out the lab and the tests: -DKLOCK_TESTS=OFF")
	endif()
endfunction()

# klock_need_program(<variable> <name>...)
function(klock_need_program variable)
	find_program(${variable} NAMES ${ARGN})
	klock_need(${variable} ${ARGV1})
endfunction()
