# SPDX-License-Identifier: MIT
#
# cmake -D REPORT=... -D FOLDER=... -P test_identical.cmake
#
# Two processes, whose memory the host lays out differently, write the same
# bytes. Of the first machine: test sim_misses reads the table.

foreach(run IN ITEMS 1 2)
	file(MAKE_DIRECTORY ${FOLDER}/${run})
	execute_process(COMMAND ${REPORT} ${FOLDER}/${run}
		OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(file IN ITEMS table.txt table.md table.csv)
	execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files
		${FOLDER}/1/${file} ${FOLDER}/2/${file}
		COMMAND_ERROR_IS_FATAL ANY)
endforeach()
