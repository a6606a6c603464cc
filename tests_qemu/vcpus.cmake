# SPDX-License-Identifier: MIT
#
# vCPUs that share host cores, so that not all of them run: read behind
# matrix.cmake, whose functions it uses.

# A waiter whose turn it is may not run. A FIFO lock gets on then, too, but so
# slowly that it is asked for little.
klock_add_boot_test(qemu_measure_parallel_8 CPUS 8 MODE parallel
	APPEND "lock=ticket_lock<u8>,preemptable_ticket_lock<u8>,queued_lock,ttas_lock,backoff_ttas_lock section=500 acquisitions=400"
	RUN --expect-text "wait us  index"
		--expect-once "ticket_lock<u8>                8 "
		--expect-once "preemptable_ticket_lock<u8>    8 "
		--expect-once "queued_lock                    8 "
		--expect-once "backoff_ttas_lock              8 ")

# lib/README's table.
klock_add_lab_target(vcpus "Measuring vCPUs that share cores: two minutes"
	${Python3_EXECUTABLE} ${scripts}/vcpus.py --image ${kernel}
	--out ${CMAKE_CURRENT_BINARY_DIR}/vcpus
	--readme ${PROJECT_SOURCE_DIR}/lib/README.md
	COMMAND ${KLOCK_PLOT} --out vcpus vcpus/vcpus.csv)
