# SPDX-License-Identifier: MIT
#
# That a project which adds klock keeps its settings, and builds nothing more.

set(SETTINGS CMAKE_CXX_FLAGS CMAKE_CXX_STANDARD CMAKE_BUILD_TYPE
	CMAKE_EXE_LINKER_FLAGS CMAKE_RUNTIME_OUTPUT_DIRECTORY
	CMAKE_POSITION_INDEPENDENT_CODE BUILD_TESTING)
set(PROPERTIES COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES
	LINK_OPTIONS TESTS)

macro(remember_settings)
	foreach(name IN LISTS SETTINGS)
		set(before_${name} "${${name}}")
	endforeach()
	foreach(name IN LISTS PROPERTIES)
		get_property(before_${name} DIRECTORY PROPERTY ${name})
	endforeach()
endmacro()

# The targets of a folder and those below that a plain build would build.
function(built_targets out folder)
	get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
	get_property(left_out DIRECTORY ${folder} PROPERTY EXCLUDE_FROM_ALL)
	set(found)
	if(left_out)
		set(targets)
	endif()
	foreach(target IN LISTS targets)
		get_target_property(type ${target} TYPE)
		get_target_property(excluded ${target} EXCLUDE_FROM_ALL)
		if(NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT excluded AND
				NOT type STREQUAL "UTILITY")
			list(APPEND found ${target})
		endif()
	endforeach()
	get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
	foreach(below IN LISTS folders)
		built_targets(more ${below})
		list(APPEND found ${more})
	endforeach()
	set(${out} ${found} PARENT_SCOPE)
endfunction()

macro(assert_nothing_changed)
	foreach(name IN LISTS SETTINGS)
		if(NOT "${before_${name}}" STREQUAL "${${name}}")
			message(FATAL_ERROR "klock changed ${name}: ${${name}}")
		endif()
	endforeach()
	foreach(name IN LISTS PROPERTIES)
		get_property(now DIRECTORY PROPERTY ${name})
		if(NOT "${before_${name}}" STREQUAL "${now}")
			message(FATAL_ERROR "klock changed ${name}: ${now}")
		endif()
	endforeach()
	built_targets(built ${klock_SOURCE_DIR})
	if(built)
		message(FATAL_ERROR "klock would build ${built}")
	endif()
	if(TARGET klock_catch OR DEFINED Threads_FOUND)
		message(FATAL_ERROR "klock brought its tests along")
	endif()
endmacro()
