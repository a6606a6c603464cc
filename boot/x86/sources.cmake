# SPDX-License-Identifier: MIT
set(common
	acpi.cpp apic.cpp board.cpp clock.cpp cpu_kind.cpp framebuffer.cpp
	interrupts.cpp memory.cpp multiboot.S multiboot.cpp nmi_clock.cpp
	psf.cpp reference_timers.cpp screen.cpp smp.cpp text_screen.cpp
	topology.cpp trampoline.S)
foreach(bits IN ITEMS x86_64 i686)
	set(KLOCK_MACHINE_SOURCES_${bits} ${common}
		${bits}/cpu.cpp ${bits}/entry.S ${bits}/interrupt_stubs.S)
	list(TRANSFORM KLOCK_MACHINE_SOURCES_${bits} PREPEND x86/)
endforeach()
list(APPEND KLOCK_MACHINE_SOURCES_x86_64 x86/x86_64/paging.cpp)
