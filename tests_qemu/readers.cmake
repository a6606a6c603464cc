# SPDX-License-Identifier: MIT
#
# Locks that readers share: read behind matrix.cmake, whose functions it uses.

# -- The locks that readers share: together, alone, who goes first --

foreach(cpus IN ITEMS 1 2 8)
	klock_add_boot_test(qemu_shared_${cpus} CPUS ${cpus} MODE single
		APPEND "run=shared mode=tap acquisitions=20000 convoys=50")
	klock_add_boot_test(qemu_shared_i686_${cpus} IMAGE lab-gcc-32
		CPUS ${cpus} MODE single
		APPEND "run=shared mode=tap acquisitions=20000 convoys=50")
endforeach()
klock_add_boot_test(qemu_shared_255 CPUS 255 MODE single
	APPEND "run=shared mode=tap acquisitions=4000 convoys=2")
klock_add_boot_test(qemu_shared_clang_4 IMAGE lab-clang-64 CPUS 4 MODE single
	APPEND "run=shared mode=tap acquisitions=20000 convoys=50")
klock_add_boot_test(qemu_shared_parallel_2 CPUS 2 MODE parallel
	APPEND "run=shared mode=tap parallel=1 acquisitions=50000 convoys=50")
klock_add_boot_test(qemu_shared_storm_4 CPUS 4 MODE single
	APPEND "run=shared_storm mode=tap acquisitions=20000")
klock_add_boot_test(qemu_shared_storm_i686_4 IMAGE lab-gcc-32 CPUS 4 MODE single
	APPEND "run=shared_storm mode=tap acquisitions=20000")
klock_add_boot_test(qemu_shared_storm_64 CPUS 64 MODE single
	APPEND "run=shared_storm mode=tap acquisitions=8000")
klock_add_boot_test(qemu_shared_storm_255 CPUS 255 MODE single
	APPEND "run=shared_storm mode=tap acquisitions=4000")
klock_add_boot_test(qemu_shared_busted CPUS 4 MODE single
	APPEND "run=busted_shared mode=tap acquisitions=20000 convoys=50 pauses=1")
klock_add_boot_test(qemu_shared_busted_parallel_2 CPUS 2 MODE parallel
	APPEND "run=busted_shared mode=tap parallel=1 acquisitions=2000 convoys=4 pauses=1")

# -- Measuring readers and writers --

# Handlers read and write, too.
klock_add_boot_test(qemu_measure_readers CPUS 4 MODE single
	APPEND "writers=10 irq=200 section=500 seconds=1 mode=tap lock=phase_fair_lock<u16>,reader_lock"
	RUN --expect-text "# phase_fair_lock<u16>: cpus 4, writers 10 %"
		--expect-text "ok 2 reader_lock")
klock_add_boot_test(qemu_measure_readers_csv CPUS 2 MODE single
	APPEND "writers=50 acquisitions=500 mode=csv"
	RUN --expect-text "row,rw_ticket_lock<u16>,2,8,500,500,0,2000,0,50,")
