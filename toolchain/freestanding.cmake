# SPDX-License-Identifier: MIT
#
# Freestanding code for a bare machine, out of the same build tree as the host
# tests, whatever compiler those use: one custom command a source file.
#
# A toolchain is named by its compiler and its target: gcc-64 and clang-32 of
# x86's two; gcc-aarch64, clang-riscv64 of the others. targets.cmake sets, under
# the target's name:
#   KLOCK_FLAGS_		what its code is compiled with
#   KLOCK_CLANG_FLAGS_	and by clang besides
#   KLOCK_PORT_		lib/arch/<port>
#   KLOCK_MACHINE_		boot/<machine>
#   KLOCK_MACHINE_INCLUDES_	what comes before the port on the include path
#   KLOCK_LINK_		the linker's flags
#   KLOCK_SCRIPT_		the linker's script
#   KLOCK_IMAGE_FORMAT_	what a loader takes, if it is not the linked file
#   KLOCK_GCC_, KLOCK_LD_	the programs; a target without them has clang alone
klock_need_program(KLOCK_CLANG clang++)
klock_need_program(KLOCK_LLD ld.lld)
klock_need_program(KLOCK_OBJCOPY objcopy)

include(${CMAKE_CURRENT_LIST_DIR}/kernel_flags.cmake)
set(KLOCK_TARGETS x86_64 i686 aarch64 riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/targets.cmake)
set(KLOCK_GCC ${KLOCK_GCC_x86_64})

# klock_target_of(<variable> <toolchain>)
function(klock_target_of variable toolchain)
	string(REGEX REPLACE "^[^-]*-" "" target ${toolchain})
	if(target EQUAL 64)
		set(target x86_64)
	elseif(target EQUAL 32)
		set(target i686)
	endif()
	set(${variable} ${target} PARENT_SCOPE)
endfunction()

# The toolchains that this host has.
set(KLOCK_TOOLCHAINS)
foreach(toolchain IN ITEMS gcc-64 gcc-32 clang-64 clang-32 gcc-aarch64
		clang-aarch64 gcc-riscv64 clang-riscv64 gcc-riscv64s)
	klock_target_of(target ${toolchain})
	if(toolchain MATCHES "^clang-" OR
			(KLOCK_GCC_${target} AND KLOCK_LD_${target}))
		list(APPEND KLOCK_TOOLCHAINS ${toolchain})
	endif()
endforeach()

# -g1 is what addr2line wants of a panic. gdb's variables, a fifth of the time
# more: -DKLOCK_DEBUG_FLAGS=-g.
set(KLOCK_DEBUG_FLAGS -g1 CACHE STRING "What kernels have for a debugger")

# The number of CPUs for which a PC's kernel has blocks and stacks. If empty, it
# is the number in boot/x86/machine/layout.h. The lab has room for 512 below 32
# MiB, at 57 KiB a CPU.
set(KLOCK_MAX_CPUS "" CACHE STRING "CPUs of the PC's kernels: 2 to 512")
if(KLOCK_MAX_CPUS AND NOT (KLOCK_MAX_CPUS MATCHES "^[1-9][0-9]*$" AND
		KLOCK_MAX_CPUS GREATER 1 AND KLOCK_MAX_CPUS LESS 513))
	message(FATAL_ERROR "KLOCK_MAX_CPUS=${KLOCK_MAX_CPUS}: 2 to 512")
endif()

# klock_cpus_flag(<variable> <toolchain>)
function(klock_cpus_flag variable toolchain)
	set(cpus ${KLOCK_MAX_CPUS})
	# So that the largest is built, booted and measured all the time.
	if(NOT cpus AND toolchain STREQUAL "clang-64")
		set(cpus 512)
	endif()
	klock_target_of(target ${toolchain})
	if(cpus AND KLOCK_MACHINE_${target} STREQUAL "boot/x86")
		set(${variable} -DMAX_CPUS=${cpus} PARENT_SCOPE)
	endif()
endfunction()

# klock_includes_of(<variable> <target>): the root, the machine, the port.
function(klock_includes_of variable target)
	set(folders ${KLOCK_MACHINE_${target}} ${KLOCK_MACHINE_INCLUDES_${target}}
		lib ${KLOCK_PORT_${target}})
	list(TRANSFORM folders PREPEND -I${PROJECT_SOURCE_DIR}/)
	set(${variable} -I${PROJECT_SOURCE_DIR} ${folders} PARENT_SCOPE)
endfunction()

# klock_compile_freestanding(<objects-variable> TOOLCHAIN <name>
#	NAME <unique> SOURCES <file>... [FLAGS <flag>...])
#
# One object a source, in the current binary directory under NAME. A folder that
# FLAGS include comes before the port's.
function(klock_compile_freestanding objects_variable)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TOOLCHAIN;NAME"
		"SOURCES;FLAGS")
	klock_target_of(target ${ARG_TOOLCHAIN})
	klock_includes_of(includes ${target})
	set(flags -std=c++20 -O2 -Wall -Wextra ${KLOCK_DEBUG_FLAGS}
		${KLOCK_FLAGS_${target}})
	if(CMAKE_COMPILE_WARNING_AS_ERROR)
		list(APPEND flags -Werror)
	endif()
	if(ARG_TOOLCHAIN MATCHES "^gcc-")
		set(compiler ${KLOCK_GCC_${target}})
		# GCC's unique symbols would make the kernel's OS/ABI GNU.
		list(APPEND flags -fno-gnu-unique)
	else()
		set(compiler ${KLOCK_CLANG})
		list(APPEND flags ${KLOCK_CLANG_FLAGS_${target}})
	endif()
	set(cpus_flag)
	klock_cpus_flag(cpus_flag ${ARG_TOOLCHAIN})
	list(APPEND flags ${cpus_flag})

	# A source in C: without what is C++'s alone.
	set(c_flags -x c -std=c11 ${flags})
	list(REMOVE_ITEM c_flags -std=c++20 -nostdinc++ -fno-rtti
		-fno-threadsafe-statics -fno-gnu-unique)

	set(objects)
	foreach(source IN LISTS ARG_SOURCES)
		cmake_path(ABSOLUTE_PATH source NORMALIZE)
		file(RELATIVE_PATH short ${PROJECT_SOURCE_DIR} ${source})
		string(REPLACE "../" "" short ${short})
		set(object
			${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}/${short}.o)
		cmake_path(GET object PARENT_PATH folder)
		file(MAKE_DIRECTORY ${folder})
		set(its_flags ${flags})
		if(source MATCHES "\\.c$")
			set(its_flags ${c_flags})
		endif()
		add_custom_command(OUTPUT ${object}
			COMMAND ${compiler} ${its_flags} ${ARG_FLAGS} ${includes}
				-MD -MF ${object}.d -c ${source} -o ${object}
			DEPENDS ${source} DEPFILE ${object}.d
			COMMENT "Building ${short} (${ARG_TOOLCHAIN})"
			VERBATIM)
		list(APPEND objects ${object})
	endforeach()
	set(${objects_variable} ${objects} PARENT_SCOPE)
endfunction()

# klock_add_kernel(<name> TOOLCHAIN <name> [ENTRY <symbol>] [LIKE <kernel>]
#	[INSTEAD_OF <source of boot>] SOURCES <payload>... [FLAGS ...])
#
# Links boot and a payload into <name>.debug, which has the symbols for gdb, and
# makes <name>.elf of it, which QEMU's -kernel and GRUB load. LIKE: with the
# payload of that kernel besides. INSTEAD_OF: a source stands in for boot's; .*
# for all of them.
function(klock_add_kernel name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG ""
		"TOOLCHAIN;ENTRY;LIKE;INSTEAD_OF" "SOURCES;FLAGS")
	if(NOT ARG_ENTRY)
		set(ARG_ENTRY _start)
	endif()
	klock_target_of(target ${ARG_TOOLCHAIN})
	klock_compile_freestanding(objects TOOLCHAIN ${ARG_TOOLCHAIN}
		NAME ${name} SOURCES ${ARG_SOURCES} FLAGS ${ARG_FLAGS})
	if(ARG_LIKE)
		get_property(others GLOBAL PROPERTY KLOCK_PAYLOAD_${ARG_LIKE})
		list(APPEND objects ${others})
	endif()
	set_property(GLOBAL PROPERTY KLOCK_PAYLOAD_${name} ${objects})
	get_property(boot GLOBAL PROPERTY KLOCK_BOOT_${ARG_TOOLCHAIN})
	if(ARG_INSTEAD_OF)
		list(FILTER boot EXCLUDE REGEX "/${ARG_INSTEAD_OF}\\.o$")
	endif()
	if(ARG_TOOLCHAIN MATCHES "^gcc-")
		set(linker ${KLOCK_LD_${target}})
	else()
		set(linker ${KLOCK_LLD})
	endif()
	set(script ${PROJECT_SOURCE_DIR}/${KLOCK_SCRIPT_${target}})
	set(image ${CMAKE_CURRENT_BINARY_DIR}/${name})
	if(KLOCK_IMAGE_FORMAT_${target})
		set(make_image ${KLOCK_OBJCOPY} -O ${KLOCK_IMAGE_FORMAT_${target}})
	else()
		set(make_image ${CMAKE_COMMAND} -E copy)
	endif()
	add_custom_command(OUTPUT ${image}.debug ${image}.elf
		COMMAND ${linker} ${KLOCK_LINK_${target}} -nostdlib -static
			-z noexecstack
			-T ${script} -e ${ARG_ENTRY} -o ${image}.debug ${boot} ${objects}
		COMMAND ${make_image} ${image}.debug ${image}.elf
		DEPENDS boot-${ARG_TOOLCHAIN} ${boot} ${objects} ${script}
		COMMENT "Linking kernel ${name}" VERBATIM)
	add_custom_target(${name} ALL DEPENDS ${image}.elf)
	if(ARG_LIKE)
		add_dependencies(${name} ${ARG_LIKE})
	endif()
endfunction()
