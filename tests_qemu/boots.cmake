# SPDX-License-Identifier: MIT
#
# Which machine runs what of the lab. The modes and what each is for:
# runner/qemu.py; the words: lab/options.hpp.
#
# klock_boot(<level> <name> <CPUs> <mode> <words> [fail|panic|reset|timeout|qemu]
#	[<text that must be there>...] [ONCE <text>...] [IMAGE <kernel>]
#	[RUN <runner's arguments>...] [TIMEOUT <s>])

set(torture "run=locks mode=tap")
set(storm "run=storm mode=tap")
set(lists "lock=mcs_lock,preemptable_ticket_lock<u16>,queued_lock,timeout_lock")

# -- Every lock, from one CPU to all that QEMU's TCG can have --

klock_boot(check single_4 4 single "${torture} acquisitions=20000 convoys=50")
foreach(cpus IN ITEMS 1 2 8)
	klock_boot(full single_${cpus} ${cpus} single
		"${torture} acquisitions=20000 convoys=50")
	klock_boot(full i686_${cpus} ${cpus} single
		"${torture} acquisitions=20000 convoys=50" IMAGE lab-gcc-32)
endforeach()
klock_boot(full single_64 64 single "${torture} acquisitions=1000 convoys=2")
klock_boot(full single_255 255 single "${torture} acquisitions=4000 convoys=2")
# The other compiler and linker.
klock_boot(full clang_4 4 single "${torture} acquisitions=20000 convoys=50"
	IMAGE lab-clang-64)
klock_boot(full clang_i686_4 4 single "${torture} acquisitions=10000 convoys=20"
	IMAGE lab-clang-32)
# Two CPUs that truly run at once.
klock_boot(test parallel_2 2 parallel
	"${torture} parallel=1 acquisitions=10000 convoys=20")
klock_boot(full parallel_2_long 2 parallel
	"${torture} parallel=1 acquisitions=100000 convoys=100")
klock_boot(full parallel_i686_2 2 parallel
	"${torture} parallel=1 acquisitions=50000 convoys=50" IMAGE lab-gcc-32)
# Reproducible to the byte, cycles included.
klock_boot(full icount_4 4 icount
	"run=measure mode=csv section=500 acquisitions=1000"
	RUN --repeat 2 --identical)
# A machine without ACPI has one CPU, and says so.
set(with --qemu-arg=-machine --qemu-arg)
klock_boot(full no_acpi 4 single "${torture} acquisitions=1000" "ACPI"
	RUN ${with}=acpi=off --boots 1)

# -- Under interrupts, IPIs, NMIs, with holders and waiters that stall --

klock_boot(check storm_4 4 single "${storm} acquisitions=500")
klock_boot(full storm_1 1 single "${storm} acquisitions=500")
klock_boot(full storm_64 64 single "${storm} acquisitions=200 convoys=1")
# All at 255 is for the soak: each takes seconds. Here: lists, and who may give
# up or pass over another.
klock_boot(full storm_255 255 single
	"${storm} acquisitions=20 convoys=1 ${lists}")
klock_boot(full storm_i686_8 8 single "${storm} acquisitions=1000 convoys=10"
	IMAGE lab-gcc-32)
klock_boot(full storm_parallel_2 2 parallel
	"${storm} parallel=1 acquisitions=500 convoys=5")
klock_boot(full storm_parallel_2_long 2 parallel
	"${storm} parallel=1 acquisitions=3000 convoys=20")
klock_boot(full storm_icount_4 4 icount "${storm} acquisitions=100 convoys=2"
	RUN --repeat 2 --identical)

# seq_lock, seq_latch, once and barrier have a run of their own, as they are not
# in the list of locks. It also runs their mutants, and must find each.
klock_boot(check sequences_4 4 single
	"run=sequences mode=tap acquisitions=100000")
klock_boot(full sequences_1 1 single
	"run=sequences mode=tap acquisitions=100000")
klock_boot(full sequences_255 255 single
	"run=sequences mode=tap acquisitions=4000")
klock_boot(full sequences_i686_8 8 single
	"run=sequences mode=tap acquisitions=100000" IMAGE lab-gcc-32)
klock_boot(full sequences_parallel_2_long 2 parallel
	"run=sequences mode=tap parallel=1 acquisitions=100000")
klock_boot(full sequences_parallel_2 2 parallel
	"run=sequences mode=tap parallel=1 acquisitions=20000")

# Locks whose waiters sleep, woken by handlers, too; and mistakes.
set(asleep "run=sleep mode=tap")
klock_boot(test sleep_4 4 single "${asleep} acquisitions=1000")
klock_boot(full sleep_1 1 single "${asleep} acquisitions=5000")
klock_boot(full sleep_255 255 single "${asleep} acquisitions=500")
klock_boot(full sleep_i686_8 8 single "${asleep} acquisitions=5000"
	IMAGE lab-gcc-32)
klock_boot(full sleep_clang_4 4 single "${asleep} acquisitions=1000"
	IMAGE lab-clang-64)
klock_boot(full sleep_parallel_2 2 parallel
	"${asleep} parallel=1 acquisitions=5000")
# How long a wake keeps the inner lock, in guest instructions. That the IPI
# behind the lock makes it shorter is a row's verdict.
set(wakes "run=sleep cpus=1 acquisitions=40")
klock_boot(test icount_sleep 2 icount "${wakes} mode=tap" "ok 17 wakes" ONCE
	"# mutex.unlock: keeps" "shared_mutex.unlock: keeps"
	"semaphore.release: keeps" "condition.notify_one: keeps"
	"completion.set: keeps" "wait_queue.wake_one: keeps"
	"futex.wake: keeps"
	RUN --repeat 2 --identical)

# A holder that stays, and all others give up in time.
klock_boot(check deadline_8 8 single "run=deadline mode=tap")
klock_boot(full deadline_2 2 single "run=deadline mode=tap")
# This kernel has room for 512 CPUs: toolchain/freestanding.cmake.
klock_boot(full deadline_255 255 single "run=deadline mode=tap"
	IMAGE lab-clang-64)
klock_boot(full deadline_i686_8 8 single "run=deadline mode=tap"
	IMAGE lab-gcc-32)
klock_boot(full deadline_parallel_4 4 parallel
	"run=deadline mode=tap parallel=1")

# -- Locks that readers share: together, alone, who goes first --

set(shared "run=shared mode=tap")
klock_boot(check shared_8 8 single "${shared} acquisitions=20000 convoys=50")
foreach(cpus IN ITEMS 1 2)
	klock_boot(full shared_${cpus} ${cpus} single
		"${shared} acquisitions=20000 convoys=50")
endforeach()
foreach(cpus IN ITEMS 1 2 8)
	klock_boot(full shared_i686_${cpus} ${cpus} single
		"${shared} acquisitions=20000 convoys=50" IMAGE lab-gcc-32)
endforeach()
klock_boot(full shared_255 255 single "${shared} acquisitions=4000 convoys=2")
klock_boot(full shared_clang_4 4 single
	"${shared} acquisitions=20000 convoys=50" IMAGE lab-clang-64)
klock_boot(full shared_parallel_2 2 parallel
	"${shared} parallel=1 acquisitions=10000 convoys=20")
set(shared_storm "run=shared_storm mode=tap")
klock_boot(test shared_storm_4 4 single "${shared_storm} acquisitions=20000")
klock_boot(full shared_storm_i686_4 4 single "${shared_storm} acquisitions=20000"
	IMAGE lab-gcc-32)
klock_boot(full shared_storm_64 64 single "${shared_storm} acquisitions=8000")
klock_boot(full shared_storm_255 255 single "${shared_storm} acquisitions=4000")

# -- Experiments --

# Handlers read and write, too.
klock_boot(test measure_readers 4 single
	"writers=10 irq=200 section=500 seconds=1 mode=tap lock=phase_fair_lock<u16>,reader_lock"
	"# phase_fair_lock<u16>: cpus 4, writers 10 %" "ok 2 reader_lock")
klock_boot(full measure_readers_csv 2 single
	"writers=50 acquisitions=500 mode=csv"
	"row,rw_ticket_lock<u16>,2,8,500,500,0,2000,0,50,")
# The table of run=backoff, too, is as wide as its longest name.
klock_boot(full long_names 2 single
	"run=backoff acquisitions=200"
	"lock                          CPUs per second")
# The cost of each lock alone, in guest instructions.
klock_boot(test icount_instructions 1 icount "run=instructions mode=tap"
	"bakery_lock" RUN --repeat 2 --identical)
klock_boot(test measure 8 single
	"cpus=1,2,8 section=100..900 think=0..2000 acquisitions=2000"
	"pause" "handoff" "bakery_lock")
klock_boot(full measure_detail 4 single
	"lock=mcs_lock,clh_lock seconds=1 section=1000 detail=1" "####")
klock_boot(test measure_interrupts 4 single
	"irq=200 section=500 seconds=1 mode=csv lock=ticket_lock<u8>"
	"row,ticket_lock<u8>,4")
# vCPUs that share host cores: a waiter whose turn it is may not run. A FIFO lock
# gets on then, too, but so slowly that it is asked for little.
klock_boot(full measure_parallel_8 8 parallel
	"lock=ticket_lock<u8>,preemptable_ticket_lock<u8>,queued_lock,ttas_lock,backoff_ttas_lock section=500 acquisitions=400"
	"wait us  index" ONCE "ticket_lock<u8>                8 "
	"preemptable_ticket_lock<u8>    8 " "queued_lock                    8 "
	"backoff_ttas_lock              8 ")
klock_lab_script(full csv columns.py --readme ${here}/README.md)
klock_boot(test counts_4 4 single "run=counts mode=tap"
	"of 1000" "runqueue[0]" "2 runqueue" "log; held")
klock_boot(full counts_1 1 single "run=counts mode=tap" "runqueue[0]")

# -- Locks and uses that are wrong must be found wherever they can be --

set(table --table ${here}/README.md)
klock_lab_script(test busted_matrix_single busted.py single ${table})
klock_lab_script(full busted_matrix busted.py turns ${table})
klock_lab_script(full busted_matrix_parallel busted.py parallel ${table})
klock_boot(test shared_busted 4 single
	"run=busted_shared mode=tap acquisitions=20000 convoys=50 pauses=1")
klock_boot(full shared_busted_parallel_2 2 parallel
	"run=busted_shared mode=tap parallel=1 acquisitions=2000 convoys=4 pauses=1")

# Misuses that a checked lock finds, one for each kind of context: the panic has
# each text. The holder again (klock_deadlock's console_in_panic); another CPU; a
# handler over a waiter, and (klock_deadlock) over a reader; an NMI handler.
set(here_in "tests_qemu/lab/deadlock.cpp:")

# klock_misuses(<level> <prefix> <kernel>)
function(klock_misuses level prefix image)
	klock_boot(${level} ${prefix}misuse_foreign_unlock 5 single
		"run=deadlock what=foreign_unlock" panic
		"PANIC on CPU 4: lock runqueue"
		"unlock() by a caller that does not hold it"
		"held by CPU 0, taken at ${here_in}" IMAGE ${image})
	klock_boot(${level} ${prefix}misuse_interrupted_waiter 5 single
		"run=deadlock what=interrupted_waiter" panic
		"CPU 0: lock r" "interrupts on at tests_qemu/"
		"waited for in an interrupt handler at ${here_in}"
		IMAGE ${image})
endfunction()
# klock_misuse_in_nmi(<level> <prefix> <kernel>)
function(klock_misuse_in_nmi level prefix image)
	klock_boot(${level} ${prefix}misuse_nmi_lock 5 single
		"run=deadlock what=nmi_lock" panic "lock runqueue"
		"lock() in an NMI handler" "at ${here_in}" IMAGE ${image})
endfunction()
klock_misuses(test "" lab-gcc-64)
klock_misuse_in_nmi(test "" lab-gcc-64)

# Bugs of several locks, each named before anybody waits, by lock_order: within
# a second of boot, by the guest's clock: counted in instructions, nothing that
# this host does changes it.
function(klock_deadlock level what)
	klock_boot(${level} deadlock_${what} 3 icount
		"run=deadlock what=${what}" panic ${ARGN}
		RUN --panic-within 1000)
endfunction()
klock_deadlock(check two_orders ${here_in} "# CPU 1: buffer -> inode"
	"PANIC on CPU 1: lock inode" "lock order: buffer (" ") on CPU 1"
	"known: inode (" ") on CPU 0")
klock_deadlock(test three_cpus ${here_in} "# CPU 2: inode <----------- disk"
	"PANIC on CPU 2: lock inode" ") on CPU 2" "known: inode ("
	") on CPU 0, buffer (" ") on CPU 1")
klock_deadlock(test two_queues ${here_in} "# CPU 1: runqueue[0] <- runqueue[1]"
	"PANIC on CPU 1: lock runqueue[0]" "same class: "
	"runqueue[1] was taken at ")
klock_deadlock(test handler_order ${here_in}
	"# CPU 0: console, interrupts on -> handler -> disk"
	"PANIC on CPU 0: lock console" "a handler waits for disk at "
	"console is held or waited for with " "known: disk (" ") on CPU 1")
klock_deadlock(check console_in_panic ${here_in}
	"# CPU 0: console -> panic -> console" "PANIC on CPU 0: lock console"
	"recursion: the caller already holds it"
	"held by CPU 0, taken at ${here_in}")
klock_deadlock(test sleeps ${here_in} "# CPU 0: inode -> an answer"
	"PANIC on CPU 0: lock inode" "might_wait() with a lock held")
set(handler "interrupts on -> handler -> " "CPU 0: lock r" "interrupts on at"
	"waited for in an interrupt handler at" "${here_in}")
# Behind a writer that waits.
klock_deadlock(test reading_handler ${handler} "# CPU 1 waits for routes"
	"read by CPU 0")
# One of the findings by other compilers and in 32 bits, in the same words.
foreach(toolchain IN ITEMS gcc-32 clang-64)
	klock_boot(full deadlock_${toolchain} 3 single
		"run=deadlock what=three_cpus" panic ") on CPU 2"
		"known: inode (" ") on CPU 0, buffer (" IMAGE lab-${toolchain})
endforeach()

# The guest's watchdog sees CPUs that wait with interrupts off, and says what
# each waits for; i686 in the same words.
set(stuck "run=stuck patience=1000")
set(stands "no progress for" "next ticket"
	"waits for kept_lock, which CPU" "holds kept_lock" "at 0x")
set(stands_pc ${stands} "CPU 0 holds experiment (0x"
	", taken at tests_qemu/lab/storm_run.cpp:")
klock_boot(test watchdog_gcc-64 3 single "${stuck}" panic ${stands_pc})
klock_boot(full watchdog_gcc-32 3 single "${stuck}" panic ${stands_pc}
	IMAGE lab-gcc-32)
# A preemptable lock: the turn, without its bit of who holds. The holder has no
# ticket, both others have one; an NMI handler on CPU 0 would keep NMIs out.
klock_boot(test watchdog_preemptable 3 single
	"${stuck} without=nmis lock=preemptable_ticket_lock<u8>" panic
	"next ticket 2, served 0" "bytes 04 01 00")

# A holder that waits for the answer to an IPI, of a CPU that waits for the lock
# with interrupts off: hangs, with names; passes by lock(serve).
function(klock_shootdown level prefix image)
	klock_boot(${level} ${prefix}shootdown 2 single
		"run=deadlock what=shootdown patience=1000" panic
		"no progress for" "CPU 0 holds inode (0x"
		"CPU 1 waits for inode (0x" "held by CPU 0" IMAGE ${image})
	klock_boot(${level} ${prefix}served 2 single
		"run=deadlock what=served" "# 100 answers" IMAGE ${image})
endfunction()
klock_shootdown(test "" lab-gcc-64)

# -- The runner tells apart how a run ends --

# klock_endings(<prefix> <kernel> <CPUs that panic> <text of a fault>)
function(klock_endings level prefix image cpus text)
	klock_boot(${level} ${prefix}ends_by_failure 2 single "run=fail" fail
		IMAGE ${image})
	klock_boot(${level} ${prefix}ends_by_panic ${cpus} single "run=panic"
		panic "a_lock" IMAGE ${image})
	klock_boot(${level} ${prefix}ends_by_exception 2 single "run=fault"
		panic "PANIC on CPU 0: exception " "${text}" IMAGE ${image})
	# The console's lock is held by the CPU that then reports.
	klock_boot(${level} ${prefix}ends_by_print_fault 2 single
		"run=print_fault" panic "PANIC on CPU 0: exception "
		IMAGE ${image})
	klock_boot(${level} ${prefix}ends_by_report_fault 2 single
		"run=report_fault" panic "and its report failed, too"
		IMAGE ${image} TIMEOUT 60)
	klock_boot(${level} ${prefix}ends_by_reset 2 single "run=reset" reset
		IMAGE ${image})
	klock_boot(${level} ${prefix}ends_by_timeout 2 single "run=hang"
		timeout TIMEOUT 4 IMAGE ${image})
endfunction()
klock_endings(test "" lab-gcc-64 2 "invalid opcode")
klock_boot(test fails_to_start 2 single "" qemu RUN --qemu-arg=-no-such-option)

# All wrong words: options/test_options.cpp. One on a machine, whole.
klock_boot(test wrong_word 2 single "cpus=1,3" fail ONCE
	"FAIL: wrong word cpus=1,3: out of range: at most 2, all CPUs (the word help lists all)")
klock_boot(test list_of_words 1 single "help" "run=measure|locks|storm"
	"acquisitions=0" "ticket_lock<u8>" "run=measure|backoff")
klock_boot(test unused_word 1 single "run=topology seconds=3 seed=4" fail ONCE
	"FAIL: wrong word seconds=3: run=topology does not use it, these do: measure, backoff (the word help lists all)")

# -- A part that was not done is not passed -----------------------------

# A storm without one of its parts was none: the words leave it out. Updates
# that are not made are lost: of a right lock, too, and then the row "control"
# says that this storm proves nothing of those that are wrong.
foreach(line IN ITEMS "handlers|no handler took the lock"
		"nmis|no NMI handler took the lock" "halts|no holder halted"
		"leaves|no CPU left" "nests|no other lock was taken inside"
		"handoffs|the lock did not go from CPU to CPU"
		"updates|an update made under the lock was lost")
	string(REPLACE "|" ";" line "${line}")
	list(POP_FRONT line part)
	klock_boot(test no_storm_${part} 2 single
		"${storm} acquisitions=200 lock=tas_lock without=${part}" fail
		"not ok 1 tas_lock" ${line})
endforeach()
klock_boot(test no_control 2 single
	"run=busted_storm mode=tap acquisitions=200 without=updates" fail
	"not ok 1 control" "control: a right lock was found out")
klock_boot(test storm_without_apic 1 single "${storm}" fail
	"no local APIC: no interrupts, no NMIs"
	RUN --qemu-arg=-cpu --qemu-arg=max,-apic)
klock_boot(test no_row 8 single
	"run=measure lock=peterson_lock cpus=4,8 mode=tap" fail
	"# SKIP 4 CPUs: room for 2 only"
	"nothing was run: 2 of 2 rows, 2 skipped")
klock_boot(test no_interrupt 2 single
	"lock=tas_lock mode=tap irq=10 acquisitions=10" fail
	"no interrupt handler took the lock")
klock_boot(test fewer_cpus 2 single "run=locks lock=tas_lock acquisitions=100"
	fail "it found 2 CPUs of 3" RUN --boots 3)

# -- Each verdict of a run is seen to be FAIL: fault= seeds what it is for --

# The rows of lab.mutants: seeded_<run>_<fault>.
set(mutants ${PROJECT_SOURCE_DIR}/tests_host/mutants)
set(seeded ${CMAKE_CURRENT_BINARY_DIR}/seeded.cmake)
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${mutants}/mutants.py boots
	--out ${seeded} COMMAND_ERROR_IS_FATAL ANY)
include(${seeded})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
	${mutants}/lab.mutants)
# A CPU that never answers: the watchdog waits for it eight times as long. With
# a patience of 300 ms that is 40 looks, one in 54 ms.
function(klock_silent level prefix image)
	klock_boot(${level} ${prefix}seeded_stuck_silent_cpu 3 single
		"run=stuck patience=300 fault=silent_cpu" panic
		"CPU 2 does not stop" IMAGE ${image} TIMEOUT 60
		RUN --expect-number "no progress for" 2160 100000)
endfunction()
klock_silent(full "" lab-gcc-64)

# -- The machine: CPUs and their distances ------------------------------

# Two packages of two cores of two threads.
set(eight --qemu-arg=-smp --qemu-arg=8,sockets=2,cores=2,threads=2)
klock_boot(test topology 8 single "run=topology mode=csv"
	"8 CPUs in 4 cores of 2 packages, clock not invariant"
	"row,0,0,0," "row,3,3,1," "row,4,4,2," "row,7,7,3," RUN ${eight})
# Two kinds of cores, and a clock that is invariant.
klock_boot(full hybrid 8 single "run=topology"
	"8 CPUs (4 Core, 4 Atom) in 4 cores of 2 packages, clock invariant"
	"clock ns  within  kind" "  Core" "  Atom" IMAGE lab-hybrid RUN ${eight})
klock_boot(full pin_cores 8 single "run=topology mode=csv pin=cores"
	"row,0,0,0," "row,1,2,1," "row,2,4,2," "row,3,6,3,"
	RUN ${eight} --boots 4)
klock_boot(full pin_l3 8 single "run=topology mode=csv pin=l3" "row,3,3,1,"
	RUN ${eight} --boots 4)
klock_boot(full pin_list 8 single "run=topology mode=csv pin=7,2"
	"row,1,7,3," "row,2,2,1," RUN ${eight} --boots 3)
klock_boot(test pin_wrong 2 single "run=topology pin=0,2" fail
	"FAIL: wrong word pin=0,2: there is no CPU of that" RUN --boots 2)
# One handoff between every two CPUs; 13 are too many for a screen's width.
klock_boot(full pairs 4 single "run=pairs" "CPU        0     1     2" "farthest")
klock_boot(full pairs_13 13 single "run=pairs mode=tap" "# CPUs 12 and 11: ")

# -- The firmware: what it says is read, not assumed --

foreach(line IN ITEMS "nothing|2|NMI clock: runs" "apic_id|1|NMI clock: runs"
		"entry|2|the ACPI MADT has an entry of 0 bytes at 52 of |--boots|1"
		"wire|2|NMI clock: no NMI comes"
		"address|2|NMI clock: no I/O APIC has the timer's input"
		"io_apic|2|NMI clock: the firmware names no I/O APIC")
	string(REPLACE "|" ";" line "${line}")
	list(POP_FRONT line what cpus text)
	klock_boot(full firmware_${what} ${cpus} single "spoil=${what}"
		"own IPI: came" "${text}" IMAGE firmware RUN ${line})
endforeach()

# -- The clock: right, or the lab says that it is not --

klock_lab_script(full stopped stopped.py)
set(measure "run=measure mode=tap lock=tas_lock acquisitions=500")
set(unknown "the clock is not known, the times are wrong")
klock_boot(full no_pit_measure 2 single "${measure}" " times by the HPET"
	RUN ${with}=pit=off)
# The clock counts instructions and has 1 GHz: 1,000,000 kHz, to the two ticks
# of 279 ns that a read of ACPI's timer may be off in the 10 ms that are
# measured.
klock_boot(full no_pit_no_hpet_measure 2 icount "${measure}"
	" times by ACPI's timer"
	RUN ${with}=pit=off,hpet=off
	--expect-number "# boot: clock" 999900 1000100)
# An instruction takes 1,024 ns here, and so a look at the clock more.
klock_boot(full coarse_clock 1 single "run=topology"
	ONCE "# boot: the clock goes by steps of "
	RUN --qemu-arg=-icount --qemu-arg=shift=10,sleep=off
	--expect-number "steps of" 1001 100000)
# Times below a hundred such steps are left out, and long ones are not.
function(klock_coarse name words)
	klock_boot(test coarse_${name} 2 icount "${words}" ${ARGN}
		RUN --qemu-arg=-icount --qemu-arg=shift=10,sleep=off)
endfunction()
set(one "lock=ticket_lock<u8> acquisitions=40")
set(steps "no handoff was measured, times below 100 steps are left out")
set(row "ticket_lock<u8>         2")
klock_coarse(short "${one}" "${steps}" "${row}          - ")
klock_coarse(long "${one} section=5000000 think=0"
	"${row}        1" "     41         -     5")
klock_coarse(tap "${one} mode=tap"
	" - per second, handoff median - ns, p99 - ns, longest wait ")
klock_coarse(csv "${one} mode=csv think=0" ",0,0,0,0,0," "# totals")
klock_coarse(readers "lock=rw_ticket_lock<u8> writers=10 acquisitions=40"
	"rw_ticket_lock<u8>      2          - ")
set(too_long fail "skipped: the clock's steps are too long"
	"FAIL: nothing was run: 1 of 1 rows, 1 skipped")
klock_coarse(pairs "run=pairs" ${too_long})
klock_coarse(instructions "run=instructions lock=tas_lock" ${too_long})
klock_boot(full no_timer_measure 2 single "${measure}" fail
	"the clock is not known: no timer measures it" "${unknown}"
	RUN ${with}=pit=off,acpi=off --boots 1)
klock_boot(full no_timer_topology 2 single "run=topology" fail "${unknown}"
	RUN ${with}=pit=off,acpi=off --boots 1)
klock_boot(full no_pit_stuck 2 single "run=stuck" fail "nobody would notice"
	"# no watchdog: no 8254 timer that counts" RUN ${with}=pit=off)

# -- Other kernels --

# The embed kernels, as they stand, with an order of their locks: silent.
#
# klock_watched(<level> <name>)
function(klock_watched level name)
	set(watched "# watched: ")
	klock_boot(${level} ${name} 4 single "" "${watched}boot, its console's lock"
		"${watched}kernel_c, all of its locks"
		"${watched}kernel_cpp, all of its locks" IMAGE ${name})
endfunction()
klock_watched(full watched)
# The lab with boot's own lock in the order, too: its boot, what it prints from
# all of its contexts, and how it ends.
klock_boot(full watched_lab 4 single "${storm} acquisitions=200 convoys=1"
	IMAGE lab-watched)
klock_boot(full watched_lab_stuck 3 single "${stuck}" panic "no progress for"
	"CPU 0 holds experiment" ONCE "PANIC" IMAGE lab-watched)

# A kernel with a run queue: 64 threads that sleep. Its park() without a look at
# the permit is found by what is left to run: nothing.
klock_boot(test threads_4 4 single "" "preemptions" IMAGE threads)
# Without lib/unparked, a wake-up preempts nobody; all else is right.
klock_boot(full threads_late_4 4 single "" fail
	"0 of 7 urgent threads ran before their wakers went on"
	"FAIL: a waker went on before the urgent thread that it had woken"
	IMAGE threads-late)
klock_boot(test threads_no_look 4 icount "park=no_look" fail
	"threads sleep, and nobody is left to wake them"
	"waits for mutex; it has a permit: its park() did not look"
	IMAGE threads)
klock_boot(full threads_parallel_2 2 parallel "" "preemptions" IMAGE threads)

# -- The first things that a person sees --------------------------------

set(demo demo.py --readme ${PROJECT_SOURCE_DIR}/README.md
	--append "${KLOCK_DEMO_WORDS}")
klock_lab_script(full demo ${demo})
# Less of it than the demo's: what counts is how much is printed.
klock_lab_script(full screen screen.py
	--append "run=measure section=500 think=0 acquisitions=2000")
klock_lab_script(full screen_full_row screen.py --append "spoil=nothing"
	--full-row "# 80 columns" IMAGE firmware)

# -- The image for sticks and CDs, by way of GRUB: on BIOS and on UEFI --

set(image ${CMAKE_CURRENT_BINARY_DIR}/lab-gcc-64.elf)
klock_lab_script(full menu menu.py --menu ${menu})
add_test(NAME qemu_iso_made COMMAND ${make_iso})
set_tests_properties(qemu_iso_made PROPERTIES LABELS qemu TIMEOUT 120
	SKIP_RETURN_CODE 77 FIXTURES_SETUP klock_iso)

# The ISO's menu, started at once and with less to do, on machines of all ages:
# what is on the screen is what was printed, and the whole table is there.
foreach(kind IN ITEMS quick pixels)
	set(iso_${kind} ${CMAKE_CURRENT_BINARY_DIR}/klock-lab-${kind}.iso)
endforeach()
add_test(NAME qemu_pcs_made COMMAND sh -c "\"$@\" --out ${iso_quick} &&
\"$@\" --out ${iso_pixels} --pixels 800x600x24" sh ${Python3_EXECUTABLE}
	${scripts}/iso.py --quick --menu ${menu} --image ${image})
set_tests_properties(qemu_pcs_made PROPERTIES LABELS qemu TIMEOUT 600
	SKIP_RETURN_CODE 77 FIXTURES_SETUP klock_pcs)

# From the image to a stick to a table: README's commands, as they stand there.
add_test(NAME qemu_iso_to_table COMMAND ${Python3_EXECUTABLE} -B
	${scripts}/stick.py --iso ${iso_quick}
	--readme ${CMAKE_CURRENT_SOURCE_DIR}/README.md
	--out ${CMAKE_CURRENT_BINARY_DIR}/iso_to_table)
set_tests_properties(qemu_iso_to_table PROPERTIES LABELS qemu
	SKIP_RETURN_CODE 77 TIMEOUT 1000 FIXTURES_REQUIRED klock_pcs)

# klock_add_pc_test(<name> <ISO> MACHINE <pc or q35> RUN <arguments>...)
function(klock_add_pc_test name made)
	cmake_parse_arguments(PARSE_ARGV 2 ARG "" "MACHINE" "RUN")
	add_test(NAME qemu_pc_${name} COMMAND ${Python3_EXECUTABLE}
		${scripts}/screen.py --image ${iso_${made}} --cpus 4
		--log ${CMAKE_CURRENT_BINARY_DIR}/qemu_pc_${name}.log
		--machine ${ARG_MACHINE} ${ARG_RUN}
		--expect "# boot: 4 CPUs" --expect PASS)
	set_tests_properties(qemu_pc_${name} PROPERTIES LABELS qemu
		SKIP_RETURN_CODE 77 TIMEOUT 1000
		FIXTURES_REQUIRED klock_pcs)
endfunction()

set(by_font --font ${CMAKE_BINARY_DIR}/boot/font.psf)
set(size_1024 --expect "# boot: screen of 1024 x 768 pixels, 32 bits each")
klock_add_pc_test(bios_q35 quick MACHINE q35)
klock_add_pc_test(bios_pixels pixels MACHINE pc RUN ${by_font}
	--expect "# boot: screen of 800 x 600 pixels, 24 bits each")
klock_add_pc_test(uefi_pc quick MACHINE pc RUN --uefi ${by_font}
	${size_1024})
klock_add_pc_test(uefi_q35 quick MACHINE q35,hpet=off RUN --uefi ${by_font}
	${size_1024})
# A framebuffer alone, and nobody who listens: the screen says it all.
klock_add_pc_test(uefi_bare quick MACHINE q35 RUN --uefi ${by_font}
	--no-serial --qemu-arg=-vga --qemu-arg=none
	--qemu-arg=-device --qemu-arg=bochs-display ${size_1024})

# README's line for the image, as it stands there but without a window.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
file(STRINGS README.md by_hand REGEX "^qemu-system-x86_64 .*klock-lab[.]iso$")
string(REPLACE "build/default/tests_qemu/klock-lab.iso" "${iso}" by_hand
	"${by_hand} -display none")
add_test(NAME qemu_iso_by_hand COMMAND sh -c
	"command -v qemu-system-x86_64 && test -e ${iso} || exit 77; ${by_hand}
test $? -eq 85")
set_tests_properties(qemu_iso_by_hand PROPERTIES LABELS qemu TIMEOUT 180
	SKIP_RETURN_CODE 77 FIXTURES_REQUIRED klock_iso)
klock_level(full TESTS qemu_iso_by_hand qemu_iso_made qemu_pcs_made
	qemu_iso_to_table qemu_pc_bios_q35 qemu_pc_bios_pixels qemu_pc_uefi_pc
	qemu_pc_uefi_q35 qemu_pc_uefi_bare)

# -- The tables of the documents are what is printed, by the compiler they name --

klock_lab_script(test table_demo ${demo} --exact)
