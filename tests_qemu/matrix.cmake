# SPDX-License-Identifier: MIT
#
# Which machine runs what. The modes and what each is for: runner/qemu.py.

# Every lock, from one CPU to all that QEMU's TCG can have.
foreach(cpus IN ITEMS 1 2 4 8)
	klock_add_boot_test(qemu_single_${cpus} CPUS ${cpus} MODE single
		APPEND "mode=tap acquisitions=20000 convoys=50")
endforeach()
klock_add_boot_test(qemu_single_64 CPUS 64 MODE single
	APPEND "mode=tap acquisitions=4000 convoys=4")
klock_add_boot_test(qemu_single_255 CPUS 255 MODE single TIMEOUT 120
	APPEND "mode=tap acquisitions=4000 convoys=2")

# The other compiler and linker.
klock_add_boot_test(qemu_clang_4 IMAGE lab-clang-64 CPUS 4 MODE single
	APPEND "mode=tap acquisitions=20000 convoys=50")

# Two CPUs that truly run at once.
klock_add_boot_test(qemu_parallel_2 CPUS 2 MODE parallel
	APPEND "mode=tap parallel=1 acquisitions=200000 convoys=200"
	RUN --repeat 3)

# Reproducible to the byte, cycles included.
klock_add_boot_test(qemu_icount_4 CPUS 4 MODE icount
	APPEND "mode=table acquisitions=2000 convoys=10"
	RUN --repeat 2 --identical)

# Locks that are wrong must be found wherever they can be.
klock_add_boot_test(qemu_busted_single_4 CPUS 4 MODE single
	APPEND "mode=tap run=busted")
klock_add_boot_test(qemu_busted_parallel_2 CPUS 2 MODE parallel
	APPEND "mode=tap run=busted parallel=1 section=1" RUN --repeat 3)

# A machine without ACPI has one CPU, and says so.
klock_add_boot_test(qemu_no_acpi CPUS 4 MODE single
	APPEND "mode=tap acquisitions=1000"
	RUN --qemu-arg=-no-acpi --expect-text "ACPI")

# The runner tells apart how a run ends.
klock_add_boot_test(qemu_ends_by_failure CPUS 2 MODE single
	APPEND "run=fail" RUN --expect fail)
klock_add_boot_test(qemu_ends_by_panic CPUS 2 MODE single
	APPEND "run=panic" RUN --expect panic --expect-text "a_lock")
klock_add_boot_test(qemu_ends_by_exception CPUS 2 MODE single
	APPEND "run=fault" RUN --expect panic --expect-text "invalid opcode")
klock_add_boot_test(qemu_ends_by_reset CPUS 2 MODE single
	APPEND "run=reset" RUN --expect reset)
klock_add_boot_test(qemu_ends_by_timeout CPUS 2 MODE single TIMEOUT 5
	APPEND "run=hang" RUN --expect timeout)
klock_add_boot_test(qemu_fails_to_start CPUS 2 MODE single
	APPEND "" RUN --expect qemu --qemu-arg=-no-such-option)
klock_add_boot_test(qemu_wrong_word CPUS 1 MODE single
	APPEND "lock=no_such_lock" RUN --expect fail
		--expect-text "the right words" --expect-text "ticket_lock<u8>")
klock_add_boot_test(qemu_too_many_cpus CPUS 2 MODE single
	APPEND "cpus=3" RUN --expect fail --expect-text "there are 2")

# A host without QEMU skips; it does not pass.
klock_add_boot_test(qemu_is_missing CPUS 1 MODE single
	APPEND "" RUN --qemu qemu-system-none)
set_tests_properties(qemu_is_missing PROPERTIES SKIP_RETURN_CODE 76
	PASS_REGULAR_EXPRESSION "skipped: qemu-system-none not found")
