# SPDX-License-Identifier: MIT
#
# Which machine runs what. The modes and what each is for: runner/qemu.py; the
# words: lab/options.hpp.

# -- Every lock, from one CPU to all that QEMU's TCG can have --

foreach(cpus IN ITEMS 1 2 4 8)
	klock_add_boot_test(qemu_single_${cpus} CPUS ${cpus} MODE single
		APPEND "run=locks mode=tap acquisitions=20000 convoys=50")
endforeach()
klock_add_boot_test(qemu_single_64 CPUS 64 MODE single
	APPEND "run=locks mode=tap acquisitions=4000 convoys=4")
klock_add_boot_test(qemu_single_255 CPUS 255 MODE single
	APPEND "run=locks mode=tap acquisitions=4000 convoys=2")
foreach(cpus IN ITEMS 1 2 8)
	klock_add_boot_test(qemu_i686_${cpus} IMAGE lab-gcc-32
		CPUS ${cpus} MODE single
		APPEND "run=locks mode=tap acquisitions=20000 convoys=50")
endforeach()

# The other compiler and linker.
klock_add_boot_test(qemu_clang_4 IMAGE lab-clang-64 CPUS 4 MODE single
	APPEND "run=locks mode=tap acquisitions=20000 convoys=50")
klock_add_boot_test(qemu_clang_i686_4 IMAGE lab-clang-32 CPUS 4 MODE single
	APPEND "run=locks mode=tap acquisitions=10000 convoys=20")

# Two CPUs that truly run at once.
klock_add_boot_test(qemu_parallel_2 CPUS 2 MODE parallel
	APPEND "run=locks mode=tap parallel=1 acquisitions=100000 convoys=100"
	RUN --repeat 3)
klock_add_boot_test(qemu_parallel_i686_2 IMAGE lab-gcc-32 CPUS 2 MODE parallel
	APPEND "run=locks mode=tap parallel=1 acquisitions=50000 convoys=50")

# Reproducible to the byte, cycles included.
klock_add_boot_test(qemu_icount_4 CPUS 4 MODE icount
	APPEND "run=measure mode=csv section=500 acquisitions=1000"
	RUN --repeat 2 --identical)

# A machine without ACPI has one CPU, and says so.
klock_add_boot_test(qemu_no_acpi CPUS 4 MODE single
	APPEND "run=locks mode=tap acquisitions=1000"
	RUN --qemu-arg=-no-acpi --boots 1 --expect-text "ACPI")

# -- Under interrupts, IPIs, NMIs, with holders and waiters that stall --

foreach(cpus IN ITEMS 1 4)
	klock_add_boot_test(qemu_storm_${cpus} CPUS ${cpus} MODE single
		APPEND "run=storm mode=tap acquisitions=2000")
endforeach()
klock_add_boot_test(qemu_storm_64 CPUS 64 MODE single
	APPEND "run=storm mode=tap acquisitions=200 convoys=1")
# All at 255 is for the soak: each takes seconds. Here: lists, and who may give up
# or pass over another.
klock_add_boot_test(qemu_storm_255 CPUS 255 MODE single
	APPEND "run=storm mode=tap acquisitions=50 convoys=1 lock=mcs_lock,preemptable_ticket_lock<u16>,queued_lock,timeout_lock")
klock_add_boot_test(qemu_storm_i686_8 IMAGE lab-gcc-32 CPUS 8 MODE single
	APPEND "run=storm mode=tap acquisitions=1000 convoys=10")
klock_add_boot_test(qemu_storm_parallel_2 CPUS 2 MODE parallel
	APPEND "run=storm mode=tap parallel=1 acquisitions=3000 convoys=20"
	RUN --repeat 2)
klock_add_boot_test(qemu_storm_icount_4 CPUS 4 MODE icount
	APPEND "run=storm mode=tap acquisitions=200 convoys=4"
	RUN --repeat 2 --identical)

# What is no lock of the list: sequences, once, barrier. The storm's interrupts
# and NMIs; the wrong ones, which must be found, are in the same run.
foreach(cpus IN ITEMS 1 4)
	klock_add_boot_test(qemu_folder_${cpus} CPUS ${cpus} MODE single
		APPEND "run=folder mode=tap acquisitions=100000")
endforeach()
klock_add_boot_test(qemu_folder_255 CPUS 255 MODE single
	APPEND "run=folder mode=tap acquisitions=10000")
klock_add_boot_test(qemu_folder_i686_8 IMAGE lab-gcc-32 CPUS 8 MODE single
	APPEND "run=folder mode=tap acquisitions=100000")
klock_add_boot_test(qemu_folder_parallel_2 CPUS 2 MODE parallel
	APPEND "run=folder mode=tap parallel=1 acquisitions=100000")

# A holder that stays, and all others give up in time.
foreach(cpus IN ITEMS 2 8)
	klock_add_boot_test(qemu_deadline_${cpus} CPUS ${cpus} MODE single
		APPEND "run=deadline mode=tap")
endforeach()
# This kernel has room for 512 CPUs: toolchain/freestanding.cmake.
klock_add_boot_test(qemu_deadline_255 IMAGE lab-clang-64 CPUS 255 MODE single
	APPEND "run=deadline mode=tap")
klock_add_boot_test(qemu_deadline_i686_8 IMAGE lab-gcc-32 CPUS 8 MODE single
	APPEND "run=deadline mode=tap")
klock_add_boot_test(qemu_deadline_parallel_4 CPUS 4 MODE parallel
	APPEND "run=deadline mode=tap parallel=1")

# -- Experiments --

# The table of run=backoff, too, is as wide as its longest name.
klock_add_boot_test(qemu_long_names CPUS 2 MODE single
	APPEND "run=backoff lock=tas_lock acquisitions=200"
	RUN --expect-text "lock                          CPUs per second")

# What each lock costs alone, in guest instructions.
klock_add_boot_test(qemu_icount_instructions CPUS 1 MODE icount
	APPEND "run=instructions mode=tap" RUN --repeat 2 --identical
		--expect-text "bakery_lock")

# A machine's serial line in place of QEMU's.
add_test(NAME qemu_serial_line COMMAND ${Python3_EXECUTABLE} -B
	${scripts}/serial_line_selftest.py
	${CMAKE_CURRENT_BINARY_DIR}/serial_line_selftest)
set_tests_properties(qemu_serial_line PROPERTIES LABELS qemu TIMEOUT 120)

klock_add_boot_test(qemu_measure CPUS 8 MODE single
	APPEND "cpus=1,2,8 section=100..900 think=0..2000 acquisitions=2000"
	RUN --expect-text "pause" --expect-text "handoff"
		--expect-text "bakery_lock")
klock_add_boot_test(qemu_measure_detail CPUS 4 MODE single
	APPEND "lock=mcs_lock,clh_lock seconds=1 section=1000 detail=1"
	RUN --expect-text "####")
klock_add_boot_test(qemu_measure_interrupts CPUS 4 MODE single
	APPEND "irq=200 section=500 seconds=1 mode=csv lock=ticket_lock<u8>"
	RUN --expect-text "row,ticket_lock<u8>,4")
foreach(claim IN ITEMS fairness backoff)
	klock_add_lab_script(qemu_claim_${claim} claims.py ${claim}
		IMAGE lab-gcc-64)
endforeach()

# -- Locks and uses that are wrong must be found wherever they can be --

klock_add_busted_matrix(qemu_busted_matrix lab-gcc-64)

# klock_add_misuse_test(<what> <text>...): the panic says each text.
function(klock_add_misuse_test what)
	set(expected)
	foreach(text IN LISTS ARGN)
		list(APPEND expected --expect-text ${text})
	endforeach()
	klock_add_boot_test(qemu_misuse_${what} CPUS 5 MODE single
		APPEND "run=misuse what=${what}"
		RUN --expect panic ${expected}
			--expect-text "at tests_qemu/lab/misuse.cpp:")
endfunction()

klock_add_misuse_test(recursion "PANIC on CPU 0: lock runqueue"
	"recursion" "held by CPU 0, taken at tests_qemu/lab/misuse.cpp:")
klock_add_misuse_test(free_unlock "lock runqueue" "unlock of a free lock"
	"last taken at tests_qemu/lab/misuse.cpp:")
klock_add_misuse_test(foreign_unlock "PANIC on CPU 4: lock runqueue"
	"unlock by another than its holder"
	"held by CPU 0, taken at tests_qemu/lab/misuse.cpp:")
klock_add_misuse_test(crowd "lock small" "more contenders than its capacity"
	"held by CPU ")
klock_add_misuse_test(nmi_crowd "lock small"
	"more contenders than its capacity" "held by CPU ")
klock_add_misuse_test(nmi_lock "lock runqueue" "lock() in an NMI handler")
klock_add_misuse_test(number "lock bakery" "a CPU number beyond capacity")
klock_add_misuse_test(read_recursion "lock routes" "read recursion: the caller")
klock_add_misuse_test(upgrade "lock routes" "upgrade: the caller reads it")
foreach(what IN ITEMS interrupts_on interrupted_waiter reading_handler)
	klock_add_misuse_test(${what} "CPU 0: lock r" "interrupts on at tests_qemu/"
		"waited for in an interrupt handler at tests_qemu/lab/misuse.cpp:")
endforeach()

# The guest's watchdog sees CPUs that wait with interrupts off, and says what
# each waits for; i686 in the same words.
foreach(toolchain IN ITEMS gcc-64 gcc-32)
	klock_add_boot_test(qemu_watchdog_${toolchain} IMAGE lab-${toolchain}
		CPUS 3 MODE single APPEND "run=stuck patience=1000"
		RUN --expect panic --expect-text "no progress for"
			--expect-text "next ticket"
			--expect-text "waits for kept_lock, which CPU"
			--expect-text "holds kept_lock; at 0x"
			--expect-text "CPU 0 holds experiment (0x"
			--expect-text ", taken at tests_qemu/lab/storm_run.cpp:")
endforeach()
# A preemptable lock: the turn, without its bit of who holds. The holder has no
# ticket, both others have one; an NMI handler on CPU 0 would keep NMIs out.
klock_add_boot_test(qemu_watchdog_preemptable CPUS 3 MODE single
	APPEND "run=stuck patience=1000 without=nmis lock=preemptable_ticket_lock<u8>"
	RUN --expect panic --expect-text
		"next ticket 2, served 127; bytes 02 ff 00")

# -- The runner tells apart how a run ends --

klock_add_boot_test(qemu_ends_by_failure CPUS 2 MODE single
	APPEND "run=fail" RUN --expect fail)
klock_add_boot_test(qemu_ends_by_panic CPUS 2 MODE single
	APPEND "run=panic" RUN --expect panic --expect-text "a_lock")
klock_add_boot_test(qemu_ends_by_exception CPUS 2 MODE single
	APPEND "run=fault" RUN --expect panic --expect-text "invalid opcode")
# The console's lock is held by the CPU that then reports.
klock_add_boot_test(qemu_ends_by_print_fault CPUS 2 MODE single
	APPEND "run=print_fault" RUN --expect panic
		--expect-text "PANIC on CPU 0: exception 13, #GP")
klock_add_boot_test(qemu_ends_by_reset CPUS 2 MODE single
	APPEND "run=reset" RUN --expect reset)
klock_add_boot_test(qemu_ends_by_timeout CPUS 2 MODE single TIMEOUT 5
	APPEND "run=hang" RUN --expect timeout)
klock_add_boot_test(qemu_fails_to_start CPUS 2 MODE single
	APPEND "" RUN --expect qemu --qemu-arg=-no-such-option)

# All wrong words: options/test_options.cpp. One on a machine, whole.
klock_add_boot_test(qemu_wrong_word CPUS 2 MODE single
	APPEND "cpus=1,3" RUN --expect fail --expect-once
	"FAIL: wrong word cpus=1,3: out of range: at most 2, all CPUs (the word help lists all)")
klock_add_boot_test(qemu_list_of_words CPUS 1 MODE single APPEND "help"
	RUN --expect-text "run=measure|locks|storm"
		--expect-text "acquisitions=0" --expect-text "ticket_lock<u8>")

# -- What was not done is not passed --

# A storm without one of its parts was none: the words leave it out.
klock_add_boot_test(qemu_no_storm_handlers CPUS 2 MODE single
	APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock without=handlers"
	RUN --expect fail --expect-text "not ok 1 tas_lock"
		--expect-text "no handler took the lock")
klock_add_boot_test(qemu_no_storm_nmis CPUS 2 MODE single
	APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock without=nmis"
	RUN --expect fail --expect-text "no NMI handler took the lock")
klock_add_boot_test(qemu_no_storm_halts CPUS 2 MODE single
	APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock without=halts"
	RUN --expect fail --expect-text "no holder halted")
klock_add_boot_test(qemu_no_storm_leaves CPUS 2 MODE single
	APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock without=leaves"
	RUN --expect fail --expect-text "no CPU left")
# Updates that are not made are lost: of a right lock, too, and then the row
# "control" says that this storm proves nothing of those that are wrong.
klock_add_boot_test(qemu_no_storm_updates CPUS 2 MODE single
	APPEND "run=storm mode=tap acquisitions=200 lock=tas_lock without=updates"
	RUN --expect fail --expect-text "not ok 1 tas_lock"
		--expect-text "an update made under the lock was lost")
klock_add_boot_test(qemu_no_control CPUS 2 MODE single
	APPEND "run=busted_storm mode=tap acquisitions=200 without=updates"
	RUN --expect fail --expect-text "not ok 1 control"
		--expect-text "control: a right lock was found out")
foreach(run_of IN ITEMS storm busted_storm)
	klock_add_boot_test(qemu_${run_of}_without_apic CPUS 1 MODE single
		APPEND "run=${run_of} mode=tap"
		RUN --qemu-arg=-cpu --qemu-arg=max,-apic --expect fail
			--expect-text "no local APIC: no interrupts, no NMIs")
endforeach()

klock_add_boot_test(qemu_no_row CPUS 8 MODE single
	APPEND "run=measure lock=peterson_lock cpus=4,8 mode=tap"
	RUN --expect fail --expect-text "# SKIP 4 CPUs: room for 2 only"
		--expect-text "nothing was run: 2 of 2 rows, 2 skipped")
klock_add_boot_test(qemu_no_interrupt CPUS 2 MODE single
	APPEND "lock=tas_lock mode=tap irq=10 acquisitions=10"
	RUN --expect fail --expect-text "no interrupt handler took the lock")
klock_add_boot_test(qemu_fewer_cpus CPUS 2 MODE single
	APPEND "run=locks lock=tas_lock acquisitions=100"
	RUN --boots 3 --expect fail --expect-text "it found 2 CPUs of 3")
klock_add_boot_test(qemu_without_cpus CPUS 0 MODE single APPEND "")
set_tests_properties(qemu_without_cpus PROPERTIES
	PASS_REGULAR_EXPRESSION "argument --cpus: 0: at least one")

# -- The runner itself, without a guest --

foreach(selftest IN ITEMS verdicts runner help screen)
	add_test(NAME qemu_selftest_${selftest} COMMAND ${Python3_EXECUTABLE} -B
		${scripts}/${selftest}_selftest.py)
	set_tests_properties(qemu_selftest_${selftest} PROPERTIES
		LABELS qemu TIMEOUT 120)
endforeach()

# A host without QEMU skips, whatever is to be run; it does not pass.
function(klock_add_missing_test name)
	add_test(NAME qemu_is_missing_${name}
		COMMAND sh -c "\"$@\" && exit 1 || test $? -eq 77" sh ${ARGN})
	set_tests_properties(qemu_is_missing_${name} PROPERTIES LABELS qemu
		ENVIRONMENT "KLOCK_QEMU=qemu-system-none;\
KLOCK_QEMU_AARCH64=qemu-system-none;KLOCK_QEMU_RISCV64=qemu-system-none"
		TIMEOUT 30)
endfunction()

set(image ${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-64.elf)
klock_add_missing_test(run ${run} --image ${image} --log none.log)
foreach(script IN ITEMS busted "claims fairness")
	separate_arguments(script)
	list(POP_FRONT script name)
	klock_add_missing_test(${name} ${Python3_EXECUTABLE}
		${scripts}/${name}.py ${script} --image ${image} --log none.log)
endforeach()
klock_add_missing_test(soak ${Python3_EXECUTABLE} ${scripts}/soak.py
	--images ${CMAKE_CURRENT_BINARY_DIR} --log none.log)

# -- What a person sees first --

klock_add_lab_script(qemu_csv columns.py
	--readme ${CMAKE_CURRENT_SOURCE_DIR}/README.md IMAGE lab-gcc-64)
klock_add_lab_script(qemu_demo demo.py --readme ${PROJECT_SOURCE_DIR}/README.md
	--append "${KLOCK_DEMO_WORDS}" IMAGE lab-gcc-64)
# Less of it than the demo's: what counts is how much is printed.
klock_add_lab_script(qemu_screen screen.py --append
	"run=measure section=500 think=0 acquisitions=2000"
	IMAGE lab-gcc-64)
klock_add_lab_script(qemu_screen_full_row screen.py
	--append "spoil=nothing"
	--full-row "# 80 columns" IMAGE firmware)

# Each kind of picture is drawn.
add_test(NAME plots COMMAND ${KLOCK_PLOT_PYTHON} -B
	${PROJECT_SOURCE_DIR}/toolchain/plot_selftest.py
	${CMAKE_CURRENT_BINARY_DIR}/plot_selftest)
set_tests_properties(plots PROPERTIES LABELS qemu
	SKIP_RETURN_CODE 77 TIMEOUT 300)
