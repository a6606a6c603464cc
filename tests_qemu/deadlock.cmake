# SPDX-License-Identifier: MIT
#
# Bugs of several locks, each named before anybody waits: lock_order.

# klock_add_deadlock_test(<what> <file> <text>...): the panic says each text.
function(klock_add_deadlock_test what file)
	set(expected)
	foreach(text IN LISTS ARGN)
		list(APPEND expected --expect-text ${text})
	endforeach()
	klock_add_boot_test(qemu_deadlock_${what} CPUS 3 MODE single
		APPEND "run=deadlock what=${what}"
		RUN --expect panic ${expected}
			--expect-text "tests_qemu/lab/${file}.cpp:")
endfunction()

klock_add_deadlock_test(two_orders deadlock "PANIC on CPU 1: lock inode"
	"lock order: buffer (" ") on CPU 1; known: inode (" ") on CPU 0")
klock_add_deadlock_test(three_cpus deadlock "PANIC on CPU 2: lock inode"
	") on CPU 2; known: inode (" ") on CPU 0, buffer (" ") on CPU 1")
klock_add_deadlock_test(two_queues deadlock "PANIC on CPU 1: lock runqueue[0]"
	"same class: " "runqueue[1] was taken at ")
klock_add_deadlock_test(handler_order deadlock "PANIC on CPU 0: lock console"
	"a handler waits for disk at " "console is held or waited for with "
	"known: disk (" ") on CPU 1")
klock_add_deadlock_test(console_in_panic deadlock
	"PANIC on CPU 0: lock console" "recursion: the caller holds it")
klock_add_deadlock_test(sleeps deadlock "PANIC on CPU 0: lock inode"
	"might_wait() with a lock held")
# And how they are waited for where nobody hangs: counted_lock.
klock_add_boot_test(qemu_counts_4 CPUS 4 MODE single APPEND "run=counts mode=tap"
	RUN --expect-text "of 1000" --expect-text "runqueue[0]"
		--expect-text "2 runqueue" --expect-text "log; held")
foreach(what IN ITEMS interrupts_on interrupted_waiter reading_handler)
	klock_add_deadlock_test(${what} misuse "CPU 0: lock r"
		"interrupts on at" "waited for in an interrupt handler at")
endforeach()

# One of the findings by other compilers and in 32 bits, in the same words.
foreach(toolchain IN ITEMS gcc-32 clang-64)
	klock_add_boot_test(qemu_deadlock_${toolchain} IMAGE lab-${toolchain}
		CPUS 3 MODE single APPEND "run=deadlock what=three_cpus"
		RUN --expect panic --expect-text ") on CPU 2; known: inode ("
			--expect-text ") on CPU 0, buffer (")
endforeach()

# The embed kernels, as they stand, with an order of their locks: silent.
foreach(kernel IN ITEMS cpp data)
	klock_add_kernel(watched-${kernel} TOOLCHAIN gcc-64
		SOURCES embed/watched/kernel_${kernel}.cpp
			embed/watched/order.cpp lab/context.cpp)
	klock_add_boot_test(qemu_watched_${kernel} IMAGE watched-${kernel}
		CPUS 4 MODE single APPEND ""
		RUN --expect-text "# watched: all of its locks")
endforeach()
