/* SPDX-License-Identifier: MIT */
/*
 * multiboot - what a loader looks for in the file: both protocols' headers
 *
 * Source: Multiboot Specification 0.6.96, 3.1; Multiboot2 Specification 2.0,
 * 3.1. QEMU's -kernel knows the first alone. Where everything goes, and the
 * entry point, the ELF header says.
 */
#include <machine/layout.h>

	.section .multiboot, "a", @progbits
	.balign 8
	.globl multiboot1_header
multiboot1_header:
	.long MULTIBOOT_HEADER_MAGIC
	.long 0	/* no wishes */
	.long -MULTIBOOT_HEADER_MAGIC

	.balign 8
	.globl multiboot2_header, multiboot2_header_end
multiboot2_header:
	.long MULTIBOOT2_HEADER_MAGIC
	.long 0	/* i386: 32-bit protected mode, on UEFI too */
	.long multiboot2_header_end - multiboot2_header
	.long -(MULTIBOOT2_HEADER_MAGIC + multiboot2_header_end - multiboot2_header)

	/* Optional: a framebuffer will do, of this size if there is one. */
	.balign 8
	.short 5, 1
	.long 20
	.long 1024, 768, 32

	/* Optional: so will a text screen. */
	.balign 8
	.short 4, 1
	.long 12
	.long 2

	.balign 8
	.short 0, 0
	.long 8
multiboot2_header_end:

	.section .note.GNU-stack, "", @progbits
