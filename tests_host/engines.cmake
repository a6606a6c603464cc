# SPDX-License-Identifier: MIT
#
# klock::model and klock::sim for a project that adds or installs klock. Where
# klock's own tests are not built, which have them anyway: built only if linked,
# or to be installed.

option(KLOCK_ENGINES "Install model checker and simulator, too" ON)

# klock_install_engine(<name> INCLUDES <folder>... TARGETS <target>...)
function(klock_install_engine name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "INCLUDES;TARGETS")
	foreach(target IN LISTS ARG_TARGETS)
		# Their own folders serve the build; installed ones the rest.
		get_target_property(dirs ${target}
			INTERFACE_INCLUDE_DIRECTORIES)
		set_target_properties(${target} PROPERTIES
			INTERFACE_INCLUDE_DIRECTORIES
			"$<BUILD_INTERFACE:${dirs}>;$<INSTALL_INTERFACE:${KLOCK_INCLUDES};${KLOCK_INCLUDES}/arch/hooked;${KLOCK_INCLUDES}/${name}>")
		string(REPLACE "klock_" "" export_name ${target})
		set_target_properties(${target} PROPERTIES
			EXPORT_NAME ${export_name})
	endforeach()
	install(TARGETS ${ARG_TARGETS} EXPORT klock ARCHIVE
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/klock/hooked)
	foreach(folder IN LISTS ARG_INCLUDES)
		install(DIRECTORY ${folder}
			DESTINATION ${KLOCK_INCLUDES}/${name}
			FILES_MATCHING PATTERN "*.hpp")
	endforeach()
endfunction()

set(how EXCLUDE_FROM_ALL)
if(KLOCK_INSTALL AND KLOCK_ENGINES)
	set(how)
endif()
foreach(engine IN ITEMS model sim)
	set(folder ${PROJECT_SOURCE_DIR}/tests_host/${engine})
	if(NOT KLOCK_TESTS AND EXISTS ${folder}/CMakeLists.txt)
		add_subdirectory(${folder} tests_host/${engine} ${how})
	endif()
endforeach()

if(KLOCK_INSTALL AND KLOCK_ENGINES)
	if(TARGET klock_model)
		klock_install_engine(model TARGETS klock_model klock_fiber
			INCLUDES tests_host/model/include/model)
	endif()
	if(TARGET klock_sim)
		klock_install_engine(sim TARGETS klock_sim
			INCLUDES tests_host/sim/include/sim)
	endif()
endif()
