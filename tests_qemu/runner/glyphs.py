# SPDX-License-Identifier: MIT
"""Reads text off a picture of the screen, by the font that it was drawn with."""
import dataclasses

INK = 0xaa              # two thirds of a colour's 255 (boot/x86/framebuffer.cpp)
COLUMNS, ROWS = 100, 30     # with more than these, pixels are drawn larger
UNREADABLE = "\ufffd"


@dataclasses.dataclass
class Font:
    height: int
    of_character: dict      # to the glyph's rows, a byte each

    @staticmethod
    def read(path):
        """Of format 1, 8 columns wide: Debian's psf-unifont is one."""
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] != b"\x36\x04":
            raise ValueError(f"{path}: no PSF font of format 1")
        height, count = data[3], 512 if data[2] & 1 else 256
        table = data[4 + count * height:]
        found, glyph, skip = {}, 0, False
        for at in range(0, len(table) - 1, 2):
            code = table[at] | table[at + 1] << 8
            if code == 0xffff:
                glyph, skip = glyph + 1, False
            elif code == 0xfffe:
                skip = True
            elif not skip and 0x20 <= code < 0x7f:
                begin = 4 + glyph * height
                found.setdefault(chr(code), data[begin:begin + height])
        return Font(height, found)

    def pictures(self, scale):
        """Characters by the brightness of their cell's pixels."""
        result = {}
        for character, rows in self.of_character.items():
            lines = (bytes(INK if row >> 7 - x & 1 else 0
                           for x in range(8) for _ in range(scale))
                     for row in rows)
            whole = b"".join(line * scale for line in lines)
            result.setdefault(whole, character)
        return result


@dataclasses.dataclass
class Picture:
    width: int
    height: int
    red: bytes              # all colours are the same: grey

    @staticmethod
    def read(path):
        """A PPM file, as QEMU's screendump writes it."""
        with open(path, "rb") as file:
            kind, size, _, data = file.read().split(b"\n", 3)
        if kind != b"P6":
            raise ValueError(f"{path}: no PPM file")
        width, height = map(int, size.split())
        return Picture(width, height, data[0:width * height * 3:3])

    def text(self, font):
        """The rows of text, without the blanks at their ends."""
        scale = 1
        while (self.width >= COLUMNS * 8 * (scale + 1)
               and self.height >= ROWS * font.height * (scale + 1)):
            scale += 1
        across, down = 8 * scale, font.height * scale
        known = font.pictures(scale)
        rows = []
        for top in range(0, self.height - down + 1, down):
            lines = [self.red[y * self.width:(y + 1) * self.width]
                     for y in range(top, top + down)]
            cells = (b"".join(line[x:x + across] for line in lines)
                     for x in range(0, self.width - across + 1, across))
            rows.append("".join(known.get(cell, UNREADABLE)
                                for cell in cells).rstrip())
        return rows
