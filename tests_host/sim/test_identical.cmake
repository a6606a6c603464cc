# SPDX-License-Identifier: MIT
#
# cmake -D REPORT=... -D FOLDER=... -P test_identical.cmake
#
# Two processes, whose memory the host lays out differently, write the same
# bytes, whatever they have measured before: the report (1), and test sim_widths
# (2), which measures in another order. Test sim_misses reads the table.

file(MAKE_DIRECTORY ${FOLDER}/1)
execute_process(COMMAND ${REPORT} ${FOLDER}/1
	OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(file IN ITEMS table.txt table.md table.csv)
	execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files
		${FOLDER}/1/${file} ${FOLDER}/2/${file}
		COMMAND_ERROR_IS_FATAL ANY)
endforeach()
