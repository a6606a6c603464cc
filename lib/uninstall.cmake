# SPDX-License-Identifier: MIT
#
#	cmake -P PREFIX/lib/cmake/klock/uninstall.cmake
#
# Removes the klock that it was installed with: what the list beside it names, as
# sha256sum -c reads it. A file that is another by now is left, and named.
# cmake --install takes the same list for what an older klock has left there.

cmake_minimum_required(VERSION 3.25)    # of a script: IN_LIST

# klock_remove(<folder> <file>...): what the list in it names, but for these.
function(klock_remove folder)
	set(lines)
	if(EXISTS ${folder}/files.sha256)
		file(STRINGS ${folder}/files.sha256 lines)
	endif()
	set(folders)
	foreach(line IN LISTS lines)
		string(REGEX MATCH "^([0-9a-f]+)  (.+)$" all "${line}")
		set(name "${CMAKE_MATCH_2}")
		cmake_path(SET path NORMALIZE "${folder}/${name}")
		if(name STREQUAL "" OR name IN_LIST ARGN OR NOT EXISTS "${path}")
			continue()
		endif()
		set(hash none)
		if(NOT IS_DIRECTORY "${path}")
			file(SHA256 "${path}" hash)
		endif()
		if(NOT hash STREQUAL CMAKE_MATCH_1)
			message("Left, as it is not klock's any more: ${path}")
			continue()
		endif()
		message(STATUS "Removing: ${path}")
		file(REMOVE "${path}")
		if(EXISTS "${path}")    # of which REMOVE says nothing
			message(FATAL_ERROR "cannot remove ${path}")
		endif()
		# Folders of klock's own, the deepest first, if they are empty.
		cmake_path(GET path PARENT_PATH path)
		cmake_path(GET name PARENT_PATH name)
		while("/${name}/" MATCHES "/klock/")
			list(APPEND folders "${path}")
			cmake_path(GET path PARENT_PATH path)
			cmake_path(GET name PARENT_PATH name)
		endwhile()
	endforeach()
	list(REMOVE_DUPLICATES folders)
	list(SORT folders ORDER DESCENDING)
	foreach(path IN LISTS folders)
		execute_process(COMMAND rmdir "${path}" ERROR_QUIET)
	endforeach()
endfunction()

# klock_list_files(<folder below the prefix> <file of others>...)
#
# Makes the list of the files that cmake --install has installed, and removes
# files that only the list before had. An install by components removes nothing,
# as the files of the other components are not known.
function(klock_list_files folder)
	if(CMAKE_INSTALL_COMPONENT)
		return()
	endif()
	set(files ${CMAKE_INSTALL_MANIFEST_FILES})
	list(REMOVE_ITEM files ${ARGN})
	cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
		OUTPUT_VARIABLE from)
	set(names)
	set(text)
	foreach(file IN LISTS files)
		file(SHA256 "$ENV{DESTDIR}${file}" hash)
		cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${from}")
		list(APPEND names "${file}")
		string(APPEND text "${hash}  ${file}\n")
	endforeach()
	klock_remove("$ENV{DESTDIR}${from}" ${names})
	file(WRITE "$ENV{DESTDIR}${from}/files.sha256" "${text}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
	set(folder ${CMAKE_CURRENT_LIST_DIR})
	# -D MANIFEST=...: where that build has installed klock.
	if(MANIFEST)
		set(folder)
		if(EXISTS ${MANIFEST})
			file(STRINGS ${MANIFEST} folder
				REGEX "/cmake/klock/uninstall\\.cmake$")
			cmake_path(GET folder PARENT_PATH folder)
			set(folder "$ENV{DESTDIR}${folder}")
		endif()
	endif()
	if(NOT EXISTS "${folder}/files.sha256")
		message(FATAL_ERROR "no installed klock in '${folder}'")
	endif()
	klock_remove("${folder}")
	file(REMOVE "${folder}/files.sha256")
	execute_process(COMMAND rmdir "${folder}" ERROR_QUIET)
endif()
