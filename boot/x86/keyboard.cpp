/* SPDX-License-Identifier: MIT */
/*
 * keyboard - the keys that turn pages, polled
 *
 * Source: IBM PC AT Technical Reference, keyboard controller 8042: the status
 * register's bit 0 says that a byte has come, bit 5 that it is the mouse's;
 * scan codes as the controller translates them (set 1), 0xe0 in front or not.
 */
#include <boot/x86/keyboard.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr u16 data = 0x60;
constexpr u16 status = 0x64;
constexpr u8 byte_is_there = 0x01;
constexpr u8 byte_is_mouses = 0x20;

constexpr u8 page_up = 0x49;
constexpr u8 page_down = 0x51;

} // namespace

int keyboard_pages()
{
	const u8 state = in8(status);

	if (state == 0xff || !(state & byte_is_there))
		return 0;
	const u8 code = in8(data);

	if (state & byte_is_mouses)
		return 0;
	return code == page_up ? -1 : code == page_down ? 1 : 0;
}

} // namespace boot
