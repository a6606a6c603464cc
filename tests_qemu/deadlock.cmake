# SPDX-License-Identifier: MIT
#
# Bugs of several locks, each named before anybody waits: lock_order.

# klock_add_deadlock_test(<what> <file> <text>...): the panic says each text,
# within a second of boot, by the guest's clock: counted in instructions, nothing
# that this host does changes it.
function(klock_add_deadlock_test what file)
	set(expected)
	foreach(text IN LISTS ARGN)
		list(APPEND expected --expect-text ${text})
	endforeach()
	klock_add_boot_test(qemu_deadlock_${what} CPUS 3 MODE icount
		APPEND "run=deadlock what=${what}"
		RUN --expect panic --panic-within 1000 ${expected}
			--expect-text "tests_qemu/lab/${file}.cpp:")
endfunction()

klock_add_deadlock_test(two_orders deadlock "# CPU 1: buffer -> inode" "PANIC on CPU 1: lock inode"
	"lock order: buffer (" ") on CPU 1; known: inode (" ") on CPU 0")
klock_add_deadlock_test(three_cpus deadlock "# CPU 2: inode <----------- disk" "PANIC on CPU 2: lock inode"
	") on CPU 2; known: inode (" ") on CPU 0, buffer (" ") on CPU 1")
klock_add_deadlock_test(two_queues deadlock
	"# CPU 1: runqueue[0] <- runqueue[1]" "PANIC on CPU 1: lock runqueue[0]"
	"same class: " "runqueue[1] was taken at ")
klock_add_deadlock_test(handler_order deadlock
	"# CPU 0: console, interrupts on -> handler -> disk" "PANIC on CPU 0: lock console"
	"a handler waits for disk at " "console is held or waited for with "
	"known: disk (" ") on CPU 1")
klock_add_deadlock_test(console_in_panic deadlock
	"# CPU 0: console -> panic -> console"
	"PANIC on CPU 0: lock console" "recursion: the caller holds it")
klock_add_deadlock_test(sleeps deadlock "# CPU 0: inode -> an answer" "PANIC on CPU 0: lock inode"
	"might_wait() with a lock held")
# And how they are waited for where nobody hangs: counted_lock.
klock_add_boot_test(qemu_counts_4 CPUS 4 MODE single APPEND "run=counts mode=tap"
	RUN --expect-text "of 1000" --expect-text "runqueue[0]"
		--expect-text "2 runqueue" --expect-text "log; held")
klock_add_boot_test(qemu_counts_1 CPUS 1 MODE single APPEND "run=counts mode=tap"
	RUN --expect-text "runqueue[0]")
foreach(what IN ITEMS interrupts_on interrupted_waiter reading_handler)
	set(also)
	if(what STREQUAL "reading_handler") # behind a writer that waits
		set(also "# CPU 1 waits for routes" "read by CPU 0")
	endif()
	klock_add_deadlock_test(${what} misuse "interrupts on -> handler -> "
		"CPU 0: lock r" "interrupts on at"
		"waited for in an interrupt handler at" ${also})
endforeach()
klock_add_deadlock_test(read_recursion misuse
	"# CPU 0: reads routes -> reads routes" "read recursion: the caller")
klock_add_deadlock_test(upgrade misuse "# CPU 0: reads routes -> writes routes"
	"upgrade: the caller reads it")

# One of the findings by other compilers and in 32 bits, in the same words.
foreach(toolchain IN ITEMS gcc-32 clang-64)
	klock_add_boot_test(qemu_deadlock_${toolchain} IMAGE lab-${toolchain}
		CPUS 3 MODE single APPEND "run=deadlock what=three_cpus"
		RUN --expect panic --expect-text ") on CPU 2; known: inode ("
			--expect-text ") on CPU 0, buffer (")
endforeach()

# The embed kernels, as they stand, with an order of their locks: silent.
#
# klock_add_watched(<name> <toolchain>): all of them in one image.
function(klock_add_watched name toolchain)
	set(watched embed/watched)
	klock_add_kernel(${name} TOOLCHAIN ${toolchain}
		SOURCES ${watched}/kernels.cpp ${watched}/kernel_c.c
			${watched}/library_c.cpp ${watched}/console.cpp
			lab/context.cpp
		FLAGS -I${PROJECT_SOURCE_DIR}/lib/c
		INSTEAD_OF boot/console.cpp)
	klock_add_boot_test(qemu_${name} IMAGE ${name} CPUS 4 MODE single
		APPEND ""
		RUN --expect-text "# watched: boot, its console's lock"
			--expect-text "# watched: kernel_c, all of its locks"
			--expect-text "# watched: kernel_cpp, all of its locks"
			--expect-text "# watched: kernel_data, all of its locks")
	# By the guest's own time: as startup.cmake.
	klock_add_boot_test(qemu_${name}_startup IMAGE ${name} CPUS 4
		MODE icount APPEND "lock=preemptable slice=4000"
		RUN --qemu-arg=-icount --qemu-arg=shift=5,sleep=off
			--expect-text "4 of 4 CPUs are up when the boot CPU goes on"
			--expect-text "# watched: kernel_startup, all of its locks")
endfunction()

klock_add_watched(watched gcc-64)

# And the lab, with boot's own lock in the order, too: its boot, what it prints
# from all of its contexts, and how it ends.
klock_add_kernel(lab-watched TOOLCHAIN gcc-64 LIKE lab-gcc-64
	SOURCES embed/watched/console.cpp INSTEAD_OF boot/console.cpp)
klock_add_boot_test(qemu_watched_lab IMAGE lab-watched CPUS 4 MODE single
	APPEND "run=storm mode=tap acquisitions=200 convoys=1")
klock_add_boot_test(qemu_watched_lab_stuck IMAGE lab-watched CPUS 3 MODE single
	APPEND "run=stuck patience=1000"
	RUN --expect panic --expect-once "PANIC"
		--expect-text "no progress for"
		--expect-text "CPU 0 holds experiment")
