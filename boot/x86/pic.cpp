/* SPDX-License-Identifier: MIT */
/*
 * pic - the two 8259 interrupt controllers, out of the way
 *
 * Source: Intel 8259A data sheet, Programming. Masked is not enough: the BIOS
 * leaves them at vectors that are exceptions here, and a spurious interrupt
 * cannot be masked.
 */
#include <boot/x86/pic.hpp>
#include <machine/cpu.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr u16 master = 0x20; /* command port; the data port follows */
constexpr u16 slave = 0xa0;

void restart(u16 port, u8 first_vector, u8 cascade)
{
	out8(port, 0x11); /* ICW1: edge-triggered, cascaded, ICW4 follows */
	out8(port + 1, first_vector); /* ICW2 */
	out8(port + 1, cascade);      /* ICW3 */
	out8(port + 1, 0x01);	      /* ICW4: 8086 mode */
	out8(port + 1, 0xff);	      /* OCW1: all masked */
}

} // namespace

void pic_disable()
{
	restart(master, vector_pic, 1 << 2); /* the slave is at input 2 */
	restart(slave, vector_pic + 8, 2);
}

} // namespace boot
