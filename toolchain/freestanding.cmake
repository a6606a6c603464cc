# SPDX-License-Identifier: MIT
#
# Freestanding code for a bare machine, out of the same build tree as the host
# tests, whatever compiler those use: one custom command a source file.
#
# A toolchain is named by its compiler and its bits: gcc-64, gcc-32, clang-64,
# clang-32.
set(KLOCK_TOOLCHAINS gcc-64 gcc-32 clang-64 clang-32)

find_program(KLOCK_GCC NAMES g++ REQUIRED)
find_program(KLOCK_CLANG NAMES clang++ REQUIRED)
find_program(KLOCK_GNU_LD NAMES ld.bfd ld REQUIRED)
find_program(KLOCK_LLD NAMES ld.lld REQUIRED)
find_program(KLOCK_OBJCOPY NAMES objcopy REQUIRED)

include(${CMAKE_CURRENT_LIST_DIR}/kernel_flags.cmake)
set(KLOCK_FREESTANDING_FLAGS
	-std=c++20 -O2 ${KLOCK_KERNEL_FLAGS} -Wall -Wextra -Werror)
# What gdb is started with has its variables, too; a third of the time it takes.
set(KLOCK_DEBUG_FLAGS_gcc-64 -g)
set(KLOCK_DEBUG_FLAGS_gcc-32 -g1)
set(KLOCK_DEBUG_FLAGS_clang-64 -g1)
set(KLOCK_DEBUG_FLAGS_clang-32 -g1)

set(KLOCK_X86_INCLUDES
	-I${PROJECT_SOURCE_DIR}/lib -I${PROJECT_SOURCE_DIR}/lib/arch/x86)

# klock_compile_freestanding(<objects-variable> TOOLCHAIN <name>
#	NAME <unique> SOURCES <file>... [FLAGS <flag>...])
#
# One object a source, in the current binary directory under NAME.
function(klock_compile_freestanding objects_variable)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TOOLCHAIN;NAME"
		"SOURCES;FLAGS")
	if(ARG_TOOLCHAIN MATCHES "^gcc-")
		set(compiler ${KLOCK_GCC})
	else()
		set(compiler ${KLOCK_CLANG})
	endif()
	string(REGEX REPLACE "^.*-" "-m" machine ${ARG_TOOLCHAIN})

	set(objects)
	foreach(source IN LISTS ARG_SOURCES)
		cmake_path(ABSOLUTE_PATH source NORMALIZE)
		file(RELATIVE_PATH short ${PROJECT_SOURCE_DIR} ${source})
		string(REPLACE "../" "" short ${short})
		set(object
			${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}/${short}.o)
		cmake_path(GET object PARENT_PATH folder)
		file(MAKE_DIRECTORY ${folder})
		add_custom_command(OUTPUT ${object}
			COMMAND ${compiler} ${machine}
				${KLOCK_FREESTANDING_FLAGS}
				${KLOCK_DEBUG_FLAGS_${ARG_TOOLCHAIN}} ${ARG_FLAGS}
				-MD -MF ${object}.d -c ${source} -o ${object}
			DEPENDS ${source} DEPFILE ${object}.d
			COMMENT "Building ${short} (${ARG_TOOLCHAIN})"
			VERBATIM)
		list(APPEND objects ${object})
	endforeach()
	set(${objects_variable} ${objects} PARENT_SCOPE)
endfunction()

# klock_add_kernel(<name> TOOLCHAIN <name> [ENTRY <symbol>]
#	SOURCES <payload>... [FLAGS ...])
#
# Links boot and a payload into <name>.debug, which keeps 64 bits and symbols
# for gdb, and makes <name>.elf of it, which QEMU's -kernel and GRUB load: a
# multiboot loader takes 32-bit ELF only.
function(klock_add_kernel name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TOOLCHAIN;ENTRY"
		"SOURCES;FLAGS")
	if(NOT ARG_ENTRY)
		set(ARG_ENTRY _start)
	endif()
	string(REGEX REPLACE "^.*-" "" bits ${ARG_TOOLCHAIN})
	klock_compile_freestanding(objects TOOLCHAIN ${ARG_TOOLCHAIN}
		NAME ${name} SOURCES ${ARG_SOURCES}
		FLAGS -I${PROJECT_SOURCE_DIR} ${KLOCK_X86_INCLUDES} ${ARG_FLAGS})
	get_property(boot GLOBAL PROPERTY KLOCK_BOOT_${ARG_TOOLCHAIN})
	if(ARG_TOOLCHAIN MATCHES "^gcc-")
		set(linker ${KLOCK_GNU_LD})
	else()
		set(linker ${KLOCK_LLD})
	endif()
	if(bits EQUAL 64)
		set(emulation elf_x86_64)
	else()
		set(emulation elf_i386)
	endif()
	set(script ${PROJECT_SOURCE_DIR}/linker/kernel.ld)
	set(image ${CMAKE_CURRENT_BINARY_DIR}/${name})
	add_custom_command(OUTPUT ${image}.debug ${image}.elf
		COMMAND ${linker} -m ${emulation} -nostdlib -static
			-z max-page-size=0x1000 -z noexecstack
			-T ${script} -e ${ARG_ENTRY} -o ${image}.debug ${boot} ${objects}
		COMMAND ${KLOCK_OBJCOPY} -O elf32-i386
			${image}.debug ${image}.elf
		DEPENDS boot-${ARG_TOOLCHAIN} ${boot} ${objects} ${script}
		COMMENT "Linking kernel ${name}" VERBATIM)
	add_custom_target(${name} ALL DEPENDS ${image}.elf)
endfunction()
