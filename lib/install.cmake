# SPDX-License-Identifier: MIT
#
# For find_package(klock) and pkg-config. Nothing installed names the place it
# was installed to: a prefix can be moved.

include(CMakePackageConfigHelpers)

foreach(port IN ITEMS x86 hosted)
	if(TARGET klock_${port}_c)
		set_target_properties(klock_${port}_c PROPERTIES
			EXCLUDE_FROM_ALL FALSE)
		install(TARGETS klock_${port}_c EXPORT klock ARCHIVE
			DESTINATION ${CMAKE_INSTALL_LIBDIR}/klock/${port})
	endif()
endforeach()
install(TARGETS klock_x86 klock_hosted klock_hooked EXPORT klock)

if(KLOCK_ENGINES)
	install(TARGETS klock_model klock_sim klock_fiber EXPORT klock ARCHIVE
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/klock/hooked)
	foreach(engine IN ITEMS model sim)
		install(DIRECTORY ${engine}/include/${engine}
			DESTINATION ${KLOCK_INCLUDES}/${engine}
			FILES_MATCHING PATTERN "*.hpp")
	endforeach()
endif()

install(DIRECTORY klock arch c DESTINATION ${KLOCK_INCLUDES}
	FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/klock)
install(EXPORT klock NAMESPACE klock:: FILE klockConfig.cmake
	DESTINATION ${package})
# Below 1.0 a minor version may break what was. Headers serve any CPU.
write_basic_package_version_file(
	${CMAKE_CURRENT_BINARY_DIR}/klockConfigVersion.cmake
	VERSION ${KLOCK_VERSION} COMPATIBILITY SameMinorVersion
	ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/klockConfigVersion.cmake
	DESTINATION ${package})

# From where the file lies back to the prefix.
cmake_path(SET here "/${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH here BASE_DIRECTORY / OUTPUT_VARIABLE down)
string(REGEX REPLACE "[^/]+" ".." KLOCK_TO_PREFIX "${down}")
foreach(name IN ITEMS klock klock-c)
	configure_file(${name}.pc.in ${name}.pc @ONLY)
	install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
