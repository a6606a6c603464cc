# SPDX-License-Identifier: MIT
#
# What machine it is: CPUs and their distances, the firmware's tables, clocks.

# -- CPUs --

# Which CPUs share what: two packages of two cores of two threads.
set(eight 8,sockets=2,cores=2,threads=2)
klock_add_boot_test(qemu_topology CPUS 8 MODE single
	APPEND "run=topology mode=csv"
	RUN --qemu-arg=-smp --qemu-arg=${eight}
		--expect-text "8 CPUs in 4 cores of 2 packages, clock not invariant"
		--expect-text "row,0,0,0," --expect-text "row,3,3,1,"
		--expect-text "row,4,4,2," --expect-text "row,7,7,3,")
# The same, of two kinds of cores, and with a clock that is invariant.
klock_add_kernel(lab-hybrid TOOLCHAIN gcc-64 LIKE lab-gcc-64
	SOURCES hybrid/cpu_kind.cpp INSTEAD_OF x86/cpu_kind.cpp)
klock_add_boot_test(qemu_hybrid IMAGE lab-hybrid CPUS 8 MODE single
	APPEND "run=topology"
	RUN --qemu-arg=-smp --qemu-arg=${eight}
		--expect-text "8 CPUs (4 Core, 4 Atom) in 4 cores of 2 packages, clock invariant"
		--expect-text "clock ns  within  kind"
		--expect-text "  Core" --expect-text "  Atom")
klock_add_boot_test(qemu_pin_cores CPUS 8 MODE single
	APPEND "run=topology mode=csv pin=cores"
	RUN --qemu-arg=-smp --qemu-arg=${eight} --boots 4
		--expect-text "row,0,0,0," --expect-text "row,1,2,1,"
		--expect-text "row,2,4,2," --expect-text "row,3,6,3,")
klock_add_boot_test(qemu_pin_l3 CPUS 8 MODE single
	APPEND "run=topology mode=csv pin=l3"
	RUN --qemu-arg=-smp --qemu-arg=${eight} --boots 4
		--expect-text "row,3,3,1,")
klock_add_boot_test(qemu_pin_list CPUS 8 MODE single
	APPEND "run=topology mode=csv pin=7,2"
	RUN --qemu-arg=-smp --qemu-arg=${eight} --boots 3
		--expect-text "row,1,7,3," --expect-text "row,2,2,1,")
klock_add_boot_test(qemu_pin_wrong CPUS 2 MODE single
	APPEND "run=topology pin=0,2" RUN --expect fail --boots 2
		--expect-text "FAIL: wrong word pin=0,2: there is no CPU of that")

# One handoff between every two CPUs; 13 are too many for a screen's width.
klock_add_boot_test(qemu_pairs CPUS 4 MODE single APPEND "run=pairs"
	RUN --expect-text "CPU        0     1     2" --expect-text "farthest")
klock_add_boot_test(qemu_pairs_13 CPUS 13 MODE single
	APPEND "run=pairs mode=tap" RUN --expect-text "# CPUs 12 and 11: ")

# -- The firmware: what it says is read, not assumed --

# klock_add_firmware_test(<what is spoiled> CPUS <n> RUN <arguments>...)
function(klock_add_firmware_test what)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "CPUS" "RUN")
	klock_add_boot_test(qemu_firmware_${what} IMAGE firmware
		CPUS ${ARG_CPUS} MODE single APPEND "spoil=${what}"
		RUN --expect-text "own IPI: came" ${ARG_RUN})
endfunction()

klock_add_firmware_test(nothing CPUS 2 RUN --expect-text "NMI clock: runs")
klock_add_firmware_test(apic_id CPUS 1 RUN --expect-text "NMI clock: runs")
klock_add_firmware_test(entry CPUS 2 RUN --boots 1
	--expect-text "the ACPI MADT has an entry of 0 bytes at 52 of ")
klock_add_firmware_test(wire CPUS 2
	RUN --expect-text "NMI clock: no NMI comes")
klock_add_firmware_test(address CPUS 2
	RUN --expect-text "NMI clock: no I/O APIC has the timer's input")
klock_add_firmware_test(io_apic CPUS 2
	RUN --expect-text "NMI clock: the firmware names no I/O APIC")

# -- The clock: right, or the lab says that it is not --

klock_add_lab_script(qemu_stopped stopped.py IMAGE lab-gcc-64)
# klock_add_clock_test(<name> MACHINE <without what> SAYS <how it is known>)
function(klock_add_clock_test name)
	cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODE;MACHINE;SAYS" "RUN")
	klock_add_boot_test(qemu_${name}_measure CPUS 2 MODE ${ARG_MODE}
		APPEND "run=measure mode=tap lock=tas_lock acquisitions=500"
		RUN --qemu-arg=-machine --qemu-arg=${ARG_MACHINE}
			--expect-text "${ARG_SAYS}" ${ARG_RUN})
endfunction()

klock_add_clock_test(no_pit MODE single MACHINE pit=off SAYS " times by the HPET")
# By instructions counted, the clock has 1 GHz: to a ten-thousandth.
klock_add_clock_test(no_pit_no_hpet MODE icount MACHINE pit=off,hpet=off
	SAYS " times by ACPI's timer" RUN --expect-text "# boot: clock 10000")
klock_add_clock_test(no_timer MODE single MACHINE pit=off,acpi=off
	SAYS "the clock is not known: no timer measures it"
	RUN --boots 1 --expect fail
		--expect-text "the clock is not known, the times are wrong")
klock_add_boot_test(qemu_no_timer_topology CPUS 2 MODE single
	APPEND "run=topology"
	RUN --qemu-arg=-machine --qemu-arg=pit=off,acpi=off --boots 1
		--expect fail
		--expect-text "the clock is not known, the times are wrong")
klock_add_boot_test(qemu_no_pit_stuck CPUS 2 MODE single
	APPEND "run=stuck" RUN --qemu-arg=-machine --qemu-arg=pit=off
		--expect fail --expect-text "nobody would notice"
		--expect-text "# no watchdog: no 8254 timer that counts")
