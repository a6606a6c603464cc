# SPDX-License-Identifier: MIT
#
# Documents as they are installed: a link to a header leads to where headers are
# installed, and of a link to what is not installed its text remains.

cmake_minimum_required(VERSION 3.25)    # of a script: IN_LIST
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH KLOCK_TOP)

# klock_header_at(<variable> <file of the tree> <includes>)
#
# Sets the variable to the place of that header if it was installed, else to "".
function(klock_header_at variable file includes)
	string(REGEX REPLACE "^lib/" "" header ${file})
	string(REGEX REPLACE "^(model|model_std|sim)/include/" "\\1/"
		header ${header})
	cmake_path(APPEND includes ${header})
	cmake_path(ABSOLUTE_PATH includes
		BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} NORMALIZE
		OUTPUT_VARIABLE path)
	if(NOT path IN_LIST CMAKE_INSTALL_MANIFEST_FILES)
		set(path)
	endif()
	set(${variable} "${path}" PARENT_SCOPE)
endfunction()

# klock_turn_links(<variable> <text> <document> <docs> <includes>
#	<document>...)
function(klock_turn_links variable text document docs includes)
	# "](" and "](unlinked)" in characters that no document has: a list does
	# not hold a lone "]".
	string(ASCII 1 open)
	string(ASCII 2 gone)
	cmake_path(GET document PARENT_PATH folder)
	string(REPLACE "](" "${open}" text "${text}")
	string(REGEX MATCHALL "${open}[^) \n]+" links "${text}")
	list(REMOVE_DUPLICATES links)
	foreach(link IN LISTS links)
		string(REGEX MATCH "^${open}([^#]*)(.*)$" all "${link}")
		set(fragment "${CMAKE_MATCH_2}")
		cmake_path(SET file NORMALIZE "./${folder}/${CMAKE_MATCH_1}")
		# A page of the web, this document, or C++'s [](...).
		if(CMAKE_MATCH_1 STREQUAL "" OR file IN_LIST ARGN OR
				NOT EXISTS ${KLOCK_TOP}/${file})
			continue()
		endif()
		klock_header_at(header ${file} ${includes})
		set(to "${gone}")
		if(header)
			cmake_path(APPEND CMAKE_INSTALL_PREFIX ${docs} ${folder}
				OUTPUT_VARIABLE from)
			cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${from})
			set(to "${open}${header}${fragment})")
		endif()
		string(REPLACE "${link})" "${to}" text "${text}")
	endforeach()
	string(REGEX REPLACE "\\[([^][]*)${gone}" "\\1" text "${text}")
	string(REPLACE "${open}" "](" text "${text}")
	set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# klock_make_documents(<folder> <docs> <includes> <document>...): into that
# folder, to be installed to <docs>. After the headers were installed.
function(klock_make_documents made docs includes)
	file(REMOVE_RECURSE ${made})
	foreach(document IN LISTS ARGN)
		if(document MATCHES "\\.md$")
			file(READ ${KLOCK_TOP}/${document} text)
			klock_turn_links(text "${text}" ${document} ${docs}
				${includes} ${ARGN})
			file(WRITE ${made}/${document} "${text}")
		else()
			configure_file(${KLOCK_TOP}/${document}
				${made}/${document} COPYONLY)
		endif()
	endforeach()
endfunction()

