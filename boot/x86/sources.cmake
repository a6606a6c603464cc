# SPDX-License-Identifier: MIT
set(common
	acpi.cpp acpi_reader.cpp acpi_root.cpp acpi_timers.cpp apic.cpp
	boot_info.cpp clock.cpp cpu_kind.cpp exceptions.cpp exit.cpp framebuffer.cpp
	interrupts.cpp keyboard.cpp low_pages.cpp memory.cpp multiboot.S
	multiboot1.cpp multiboot2.cpp nmi_clock.cpp output.cpp pic.cpp pit.cpp
	psf.cpp reference_timers.cpp screen.cpp serial.cpp smp.cpp
	text_screen.cpp timer.cpp topology.cpp topology_reader.cpp trampoline.S
	vga.cpp)
foreach(bits IN ITEMS x86_64 i686)
	set(KLOCK_MACHINE_SOURCES_${bits} ${common}
		${bits}/entry.S ${bits}/interrupt_stubs.S ${bits}/paging.cpp
		${bits}/registers.cpp ${bits}/segments.cpp)
	list(TRANSFORM KLOCK_MACHINE_SOURCES_${bits} PREPEND x86/)
endforeach()
