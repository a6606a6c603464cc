# SPDX-License-Identifier: MIT
#
# For find_package(klock) and pkg-config, and the guides.

include(CMakePackageConfigHelpers)

# Notes the files that a project which contains klock has installed before. The
# given prefix may be relative; those of the manifest are not.
install(CODE "
	set(KLOCK_NOT_OURS \"\${CMAKE_INSTALL_MANIFEST_FILES}\")
	cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE)"
	ALL_COMPONENTS)

foreach(port IN ITEMS x86 aarch64 riscv hosted)
	if(TARGET klock_${port}_c)
		set_target_properties(klock_${port}_c PROPERTIES
			EXCLUDE_FROM_ALL FALSE)
		install(TARGETS klock_${port}_c EXPORT klock ARCHIVE
			DESTINATION ${CMAKE_INSTALL_LIBDIR}/klock/${port})
	endif()
endforeach()
install(TARGETS klock_x86 klock_aarch64 klock_riscv klock_hosted klock_hooked
	EXPORT klock)

if(KLOCK_ENGINES)
	install(TARGETS klock_model klock_model_std
		klock_model_plain klock_sim klock_fiber EXPORT klock ARCHIVE
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/klock/hooked)
	foreach(engine IN ITEMS model sim)
		install(DIRECTORY ${engine}/include/${engine}
			DESTINATION ${KLOCK_INCLUDES}/${engine}
			FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
	endforeach()
	install(DIRECTORY model_std/include/
		DESTINATION ${KLOCK_INCLUDES}/model_std)
endif()

install(DIRECTORY klock arch c analysis preempted unparked
	DESTINATION ${KLOCK_INCLUDES}
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

# The prefix is known when it is installed to (cmake --install --prefix); who
# moves it afterwards has pkg-config --define-prefix.
set(KLOCK_PREFIX "@KLOCK_PREFIX@")
# An absolute folder is not below it.
set(KLOCK_PC_INCLUDES "\${prefix}")
cmake_path(APPEND KLOCK_PC_INCLUDES "${CMAKE_INSTALL_INCLUDEDIR}")
set(KLOCK_PC_LIBRARIES "\${prefix}")
cmake_path(APPEND KLOCK_PC_LIBRARIES "${CMAKE_INSTALL_LIBDIR}")
foreach(name IN ITEMS klock klock-c)
	set(made ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc)
	configure_file(${name}.pc.in ${made}.in @ONLY)
	install(CODE "
		set(KLOCK_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
		configure_file(\"${made}.in\" \"${made}\" @ONLY)")
	install(FILES ${made} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# In the tree's shape, so that their links to each other hold; documents.cmake
# turns the others.
set(documents README.md LICENSE CHANGELOG.md lib/README.md
	lib/arch/CONTRACT.md lib/docs/add-a-lock.md
	lib/docs/add-a-port.md lib/docs/check-your-code.md
	lib/docs/embed.md lib/docs/first-debug-build.md
	lib/docs/find-a-deadlock.md lib/docs/futex.md lib/docs/inside.md
	lib/docs/protect-your-data.md lib/docs/provenance.md
	lib/docs/sleep.md lib/docs/take-a-lock.md lib/docs/test-your-kernel.md
	lib/docs/verbs.md
	lib/model/README.md lib/sim/README.md tests_host/sim/misses.png)
set(made ${CMAKE_CURRENT_BINARY_DIR}/documents)
install(CODE "
	include(\"${CMAKE_CURRENT_SOURCE_DIR}/documents.cmake\")
	klock_make_documents(\"${made}\" \"${CMAKE_INSTALL_DOCDIR}\"
		\"${KLOCK_INCLUDES}\" ${documents})")
install(DIRECTORY ${made}/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Left out of a package, whose manager has a list of its own.
install(FILES uninstall.cmake DESTINATION ${package} COMPONENT klock_list)
install(CODE "
	include(\"${CMAKE_CURRENT_SOURCE_DIR}/uninstall.cmake\")
	klock_list_files(\"${package}\" \"\${KLOCK_NOT_OURS}\")"
	COMPONENT klock_list)
