# SPDX-License-Identifier: MIT
#
# How a target of lib is made: lib/CMakeLists.txt says which there are.

# klock::<port>: the headers, and the one port that a program uses of them. No
# compiler's flags: a kernel on x86 has -mno-red-zone (an interrupt overwrites
# one) and -mgeneral-regs-only (no SSE) for all of its code, not for klock's.
function(klock_add_port port)
	add_library(klock_${port} INTERFACE)
	add_library(klock::${port} ALIAS klock_${port})
	set_target_properties(klock_${port} PROPERTIES EXPORT_NAME ${port})
	target_compile_features(klock_${port} INTERFACE cxx_std_20)
	target_include_directories(klock_${port} INTERFACE
		$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
		$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/arch/${port}>
		$<INSTALL_INTERFACE:${KLOCK_INCLUDES}>
		$<INSTALL_INTERFACE:${KLOCK_INCLUDES}/arch/${port}>)
	# Checked when a program links: all its parts must agree on the port.
	set_property(TARGET klock_${port} PROPERTY INTERFACE_KLOCK_PORT ${port})
	set_property(TARGET klock_${port} APPEND PROPERTY
		COMPATIBLE_INTERFACE_STRING KLOCK_PORT)
endfunction()

# klock::<port>_c: the C functions, as a static library that is built for
# whoever links it. c/sources is the Makefile's list, too.
function(klock_add_c port)
	set(list ${CMAKE_CURRENT_SOURCE_DIR}/c/sources)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
	file(STRINGS ${list} sources)
	list(TRANSFORM sources REPLACE "(.+)" "c/\\1.cpp")
	add_library(klock_${port}_c STATIC EXCLUDE_FROM_ALL ${sources})
	add_library(klock::${port}_c ALIAS klock_${port}_c)
	# With --gc-sections a program gets the functions that it calls.
	target_compile_options(klock_${port}_c PRIVATE -ffunction-sections)
	set_target_properties(klock_${port}_c PROPERTIES
		EXPORT_NAME ${port}_c OUTPUT_NAME klock
		ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${port})
	target_link_libraries(klock_${port}_c PUBLIC klock_${port} PRIVATE
		$<BUILD_INTERFACE:$<TARGET_NAME_IF_EXISTS:klock_warnings>>)
	target_include_directories(klock_${port}_c PUBLIC
		$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/c>
		$<INSTALL_INTERFACE:${KLOCK_INCLUDES}/c>)
endfunction()

# Sets the list to objcopy's options for the engine's code and variables, which
# assembly.cpp knows by these sections.
function(klock_engine_sections to)
	set(renamed .text=klock_engine .bss=klock_bss .data=klock_data
		.data.rel=klock_data .data.rel.local=klock_data)
	list(TRANSFORM renamed PREPEND "--rename-section;")
	set(${to} ${renamed} PARENT_SCOPE)
endfunction()

# klock::<name>, a library of hosted code; its sources are in that folder. Built
# for whoever links it, or to be installed. It is slow without optimisation: on,
# whatever the build type says. Warnings are klock's own build's.
function(klock_add_engine name folder)
	list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE sources)
	add_library(klock_${name} STATIC ${sources})
	add_library(klock::${name} ALIAS klock_${name})
	set_target_properties(klock_${name} PROPERTIES EXPORT_NAME ${name})
	if(NOT (KLOCK_INSTALL AND KLOCK_ENGINES))
		set_target_properties(klock_${name} PROPERTIES
			EXCLUDE_FROM_ALL TRUE)
	endif()
	target_compile_features(klock_${name} PUBLIC cxx_std_20)
	target_compile_options(klock_${name} PRIVATE -O2)
	# The checker asks objdump and readelf about the user's code, at each
	# run's beginning and for a finding. The engine's code and its variables
	# lie in sections of their own (assembly.cpp), without debugging
	# information.
	klock_engine_sections(renamed)
	if(CMAKE_OBJCOPY)
		add_custom_command(TARGET klock_${name} POST_BUILD
			COMMAND ${CMAKE_OBJCOPY} ${renamed}
				$<$<NOT:$<CONFIG:Debug>>:--strip-debug>
				$<TARGET_FILE:klock_${name}>
			COMMAND_EXPAND_LISTS VERBATIM)
	endif()
	# Many sources at once compile in half the time. Here they are four
	# parts, so that whoever changes one waits for a quarter.
	set(batch 0)
	if(KLOCK_TESTS)
		set(batch 9)
	endif()
	set_target_properties(klock_${name} PROPERTIES
		UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
	target_link_libraries(klock_${name} PRIVATE
		$<BUILD_INTERFACE:$<TARGET_NAME_IF_EXISTS:klock_warnings>>)
endfunction()

# A library behind the hooked port, which calls it at every operation.
function(klock_is_behind_hooks name)
	target_include_directories(klock_${name} PUBLIC
		$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/${name}/include>
		$<INSTALL_INTERFACE:${KLOCK_INCLUDES}/${name}>)
	target_link_libraries(klock_${name}
		PUBLIC klock_hooked PRIVATE klock_fiber)
endfunction()

# A program that links it calls these sources' KLOCK_WRAPPED in place of the C
# library's functions, and KLOCK_REPORTED in place of the sanitizers'.
# klock_NAME.wrap has the options for a linker that CMake does not call.
function(klock_wraps name)
	set(options)
	foreach(source IN LISTS ARGN)
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
			${CMAKE_CURRENT_SOURCE_DIR}/${source})
		file(READ ${source} text)
		string(REGEX MATCHALL
			"\nKLOCK_WRAPPED\\([^,]*,[ \n\t]*[A-Za-z0-9_]+"
			lines "${text}")
		list(TRANSFORM lines REPLACE ".*[^A-Za-z0-9_]" "--wrap=")
		list(APPEND options ${lines})
		string(REGEX MATCHALL "\nKLOCK_REPORTED\\([a-z0-9_]+" lines
			"${text}")
		list(TRANSFORM lines REPLACE ".*\\(" "--wrap=")
		foreach(suffix IN ITEMS "" _abort _noabort)
			list(TRANSFORM lines APPEND "${suffix}" OUTPUT_VARIABLE
				all)
			list(APPEND options ${all})
		endforeach()
	endforeach()
	# The table by which calls find libraries is not to lie on a page of
	# variables, which the checker closes while the code runs.
	list(APPEND options "-znow")
	list(JOIN options "\n" text)
	file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/klock_${name}.wrap "${text}\n")
	list(TRANSFORM options PREPEND "-Wl,")
	target_link_options(klock_${name} INTERFACE ${options})
endfunction()
