#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The colours and the places of toolchain/curves.py; and what a reader of its
pictures sees, taken from the SVG: wrong(svg), for the tests of those who draw.

	curves_selftest.py [PICTURE.svg...]
"""
import dataclasses
import html
import itertools
import math
import re
import sys

import curves

TEXT = re.compile(
    r'<g transform="translate\(([\d.]+),([\d.]+)\)( rotate\([-\d.]+\))?"[^>]*?'
    r'fill="([^"]+)"[^>]*?font-size="([\d.]+)"\s+text-anchor="(\w+)">\s*'
    r'<text>(.*?)</text>', re.S)
CURVE = re.compile(r'<g id="gnuplot_plot_\d+" ><title>([^<]+)</title>(.*?)'
                   r'(?=<g id="gnuplot_plot_|\Z)', re.S)
PATH = re.compile(r"<path stroke='([^']+)'[^>]*?\sd='M([^']*)'")
FORMATS = (r"\d{1,3}(,\d{3})*", r"\d+\.\d", r"\d+\.\d\d", r"\d+\.\d{3}")
# A letter's width and height, to its font's size; names are narrow.
WIDE, HIGH = 0.58, 1.15
TOGETHER = 0.05     # of the picture: curves of one colour; they look like one
DIFFERENT = 10      # CIE 1976 colour difference; 2.3 can just be seen


@dataclasses.dataclass
class Text:
    x: float
    y: float
    turned: bool
    colour: str
    size: float
    anchor: str
    words: str

    def box(self):
        """left, top, right, bottom; of text that is not turned."""
        width = WIDE * self.size * len(self.words)
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[
            self.anchor]
        return (left, self.y - HIGH * self.size * 0.75, left + width,
                self.y + HIGH * self.size * 0.25)


def plain(colour):
    """#rrggbb, of that or of rgb(r, g, b)."""
    parts = re.findall(r"\d+", colour) if colour.startswith("rgb") else []
    return "#" + "".join(f"{int(p):02x}" for p in parts) if parts else colour


def texts(svg):
    found = []
    for x, y, turned, colour, size, anchor, words in TEXT.findall(svg):
        words = html.unescape(re.sub(r"<[^>]*>", "", words)).strip()
        found.append(Text(float(x), float(y), bool(turned), plain(colour),
                          float(size), anchor, words))
    return found


def wrong_places(svg):
    """Text on other text, or beyond the picture's edge."""
    found = texts(svg)
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    for text in found:
        left, top, right, bottom = text.box()
        if text.turned:     # upwards, about its middle
            half = (right - left) / 2
            left, right = text.x - text.size, text.x
            top, bottom = text.y - half, text.y + half
        if (left < 0 or top < 0 or right > int(size[1])
                or bottom > int(size[2])):
            yield f"'{text.words}' is cut off"
    boxes = [(t, t.box()) for t in found if not t.turned]
    for (a, (al, at, ar, ab)), (b, (bl, bt, br, bb)) in (
            itertools.combinations(boxes, 2)):
        if al < br and bl < ar and at < bb and bt < ab:
            yield f"'{a.words}' and '{b.words}' lie on each other"


def lines(svg):
    """{name: (colour, [(x, y)])} in pixels."""
    found = {}
    for name, body in CURVE.findall(svg):
        path = PATH.search(body)
        if path:
            points = [(float(x), float(y)) for x, y
                      in re.findall(r"([\d.]+),([\d.]+)", path[2])]
            found[html.unescape(name)] = (plain(path[1]), points)
    return found


def far(a, b):
    """Pixels from the points of one curve to the other curve, at most; a
    curve that ends early is near if the other one passes there."""
    def to(point, curve):
        return min(to_segment(point, *ends)
                   for ends in zip(curve, curve[1:] or curve))
    return min(max(to(p, b) for p in a), max(to(p, a) for p in b))


def to_segment(point, a, b):
    (x, y), (ax, ay), (bx, by) = point, a, b
    length = (bx - ax) ** 2 + (by - ay) ** 2
    share = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / (length or 1)
    share = min(1, max(0, share))
    return math.dist(point, (ax + share * (bx - ax), ay + share * (by - ay)))


def wrong_names(svg):
    """Each curve is named once, in its colour, and each colour once."""
    names_at = [t for t in texts(svg) if t.anchor == "start"]
    said = {}
    for text in sorted(names_at, key=lambda t: t.y):
        said.setdefault(text.colour, []).append(text)
    curves_of = lines(svg)
    for name, (colour, _) in curves_of.items():
        # The longer names that hold this one are no names of it.
        words = re.compile(rf"(?<![\w<]){re.escape(name)}(?![\w<])")
        where = [t for t in names_at if words.search(t.words)]
        if len(where) != 1:
            yield f"{name} stands {len(where)} times beside the picture"
        elif colour != curves.GREY and colour != where[0].colour:
            yield f"{name} is not named in its curve's colour"
    for colour, group in said.items():
        gaps = [b.y - a.y for a, b in itertools.pairwise(group)]
        if any(gap > 1.5 * curves.LINE for gap in gaps):
            yield f"{colour} is the colour of names in two places"


def wrong_colours(svg):
    """Curves of one colour look like one curve; grey ones, if not said."""
    found = [(name, curve) for name, curve in lines(svg).items()
             if curve[0] != curves.GREY or curves.REST not in svg]
    if not found:
        yield "there is no curve"
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    most = TOGETHER * min(int(size[1]), int(size[2]))
    for (a, (one, p)), (b, (other, q)) in itertools.combinations(found, 2):
        if one == other and far(p, q) > most:
            yield f"{a} and {b} share a colour, {far(p, q):.0f} pixels apart"


def wrong_numbers(svg):
    """All numbers of an axis have one format; one is where the axes meet."""
    numbers = [t for t in texts(svg)
               if not t.turned and re.fullmatch(r"-?\d[\d.,x]*", t.words)]
    bottom = max((t.y for t in numbers), default=0)
    below = [t for t in numbers if t.anchor == "middle" and t.y == bottom]
    if all(abs(t.x - curves.LEFT) > 1 for t in below):
        yield "no number where the horizontal axis begins"
    for axis in ([t.words for t in numbers if t.anchor == "end"],
                 [t.words for t in below]):
        if len(axis) < 3:
            yield f"an axis with {len(axis)} numbers"
        if not any(all(re.fullmatch(f, n) for n in axis) for f in FORMATS):
            yield f"an axis of more than one format: {' '.join(axis)}"


def wrong(svg):
    """What a reader would stumble over."""
    return [*wrong_names(svg), *wrong_colours(svg), *wrong_numbers(svg),
            *wrong_places(svg)]


# What protanopes and deuteranopes see as red and green, from linear red and
# green, and what that adds to blue: Vienot, Brettel, Mollon, "Digital video
# colourmaps for checking the legibility of displays by dichromats", 1999.
EYES = {"all": None, "protanope": (0.112, 0.888, 0.004),
        "deuteranope": (0.293, 0.707, -0.022)}


def seen(colour, eyes):
    """CIE L*a*b* of what such eyes see."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4
               for p in parts)
    if EYES[eyes]:
        of_red, of_green, to_blue = EYES[eyes]
        b = max(0, b + to_blue * (r - g))
        r = g = of_red * r + of_green * g
    x, y, z = (max(v, 1e-6) ** (1 / 3) for v in (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def alike(colours):
    for eyes in EYES:
        for a, b in itertools.combinations(colours, 2):
            far_apart = math.dist(seen(a, eyes), seen(b, eyes))
            if far_apart < DIFFERENT:
                yield f"{a} and {b} look alike to {eyes}: {far_apart:.1f}"


def misplaced():
    """Names that want one place, or a place beyond the edge."""
    for wanted in ([0.5] * 9, [0.0, 0.0, 1.0], [-1, 2, 2, 3], [0.9, 0.95, 1]):
        heights = [0.05 + 0.02 * (i % 3) for i in range(len(wanted))]
        got = curves.spread(wanted, heights)
        edges = [(m - h / 2, m + h / 2) for m, h in zip(got, heights)]
        ends = [0.0] + [edge for pair in edges for edge in pair] + [1.0]
        if any(b < a - 1e-9 for a, b in itertools.pairwise(ends)):
            yield f"names that want {wanted} are put at {got}"


def main():
    failures = [*alike((*curves.COLOURS, curves.GREY)), *misplaced()]
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            failures += [f"{path}: {what}" for what in wrong(file.read())]
    print("\n".join(failures) or "colours, places and pictures are right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
