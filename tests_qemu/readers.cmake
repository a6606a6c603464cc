# SPDX-License-Identifier: MIT
#
# Measuring readers and writers. Read behind matrix.cmake, whose functions it
# uses.

# Handlers read and write, too.
klock_add_boot_test(qemu_measure_readers CPUS 4 MODE single
	APPEND "writers=10 irq=200 section=500 seconds=1 mode=tap lock=phase_fair_lock<u16>,reader_lock"
	RUN --expect-text "# phase_fair_lock<u16>: cpus 4, writers 10 %"
		--expect-text "ok 2 reader_lock")
klock_add_boot_test(qemu_measure_readers_csv CPUS 2 MODE single
	APPEND "writers=50 acquisitions=500 mode=csv"
	RUN --expect-text "row,rw_ticket_lock<u16>,2,8,500,500,0,2000,0,50,")

klock_add_wrong_word_test(readers_1 "writers=101" "out of range: at most 100")
klock_add_wrong_word_test(readers_2 "run=locks writers=10"
	"this run= has none")
klock_add_wrong_word_test(readers_3 "lock=reader_lock,tas_lock writers=10"
	"readers do not share tas_lock")
