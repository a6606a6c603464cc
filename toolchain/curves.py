# SPDX-License-Identifier: MIT
"""Pictures of many curves that a stranger can tell apart, by gnuplot.

Curves that lie on each other are one group: drawn in one colour, named
together. No two groups share a colour or a point. The group with most curves
is grey, as it is what the others differ from; so are those that differ least
from it, where there are more groups than colours. A name stands where its curve
ends, beside the picture, and a thin line leads there; there is no key.

Beside each picture lies what gnuplot was given, its data included: NAME.gp.
"""
import dataclasses
import itertools
import math
import pathlib
import subprocess
import textwrap

from curves_arrange import apart, groups_of, spread

# Okabe and Ito, "Color Universal Design", 2008, without the yellow, which is
# hard to see on white; the test sees them as the colour-blind do.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
           "#000000")
POINTS = (7, 5, 9, 11, 13, 6, 4)
GREY, GREY_TEXT = "#b8b8b8", "#606060"
REST = "; grey: all others"     # said where the grey ones are not near

TERMINALS = {"svg": 'svg size {} font "sans-serif,12" background "white"',
             "png": 'pngcairo size {} font "sans,10"'}
# In pixels: what is beside the plot, a line of names, a letter of it at most.
LEFT, BOTTOM, TOP, LEAD = 100, 60, 45, 30
LINE, LETTER = 16, 7.5


@dataclasses.dataclass
class Axis:
    label: str
    least: float
    most: float
    ticks: list     # (value, text); without a text a small one
    log: bool = False

    def place(self, value):
        """0 to 1: from the least to the most."""
        if self.log:
            return (math.log(value / self.least)
                    / math.log(self.most / self.least))
        return (value - self.least) / (self.most - self.least)


def linear(label, most):
    """From 0; all numbers with as many decimals as the step wants."""
    step = 10 ** math.floor(math.log10(most / 3))
    step *= max(n for n in (1, 2, 5) if n * step <= most / 3)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = [(i * step, f"{i * step:.{decimals}f}")
             for i in range(math.floor(most / step + 1e-9) + 1)]
    return Axis(label, 0, most, ticks)


def octaves(label, values):
    """A tick at each of the values, powers of two or nearly."""
    return Axis(label, min(values), max(values),
                [(v, f"{v:,}") for v in values], log=True)


def fourfold(label, least, most):
    """Powers of four, from the one below to the one above."""
    first = math.floor(math.log(least, 4))
    last = math.ceil(math.log(most, 4))
    return Axis(label, 4 ** first, 4 ** last,
                [(4 ** i, f"{4 ** i:,}") for i in range(first, last + 1)],
                log=True)


def decades(label, values):
    """To the base 10, around the values; within two decades a closer fit, with
    more numbers."""
    first = math.floor(math.log10(min(values)))
    last = max(first + 1, math.ceil(math.log10(max(values))))
    steps = [n * 10 ** i for i in range(first, last) for n in range(1, 10)]
    steps.append(10 ** last)
    said = [10 ** i for i in range(first, last + 1)]
    if last - first <= 2:
        said = [s for s in steps if f"{s:g}"[0] in "125"]
        said = said[sum(s <= min(values) for s in said) - 1:]
        said = said[:sum(s < max(values) for s in said) + 1]
    return Axis(label, said[0], said[-1],
                [(s, f"{s:,}" if s in said else "") for s in steps
                 if said[0] <= s <= said[-1]], log=True)


@dataclasses.dataclass
class Picture:
    name: str           # of its files
    title: str
    x: Axis
    y: Axis
    series: dict        # {name: [(x, y)]}, both growing if it is a CDF
    cdf: bool = False
    note: dict = dataclasses.field(default_factory=dict)  # {name: remark}
    styles: dict = dataclasses.field(default_factory=dict)
                            # {name: (colour, point)}, as given or as worn in
                            # the pictures before, which share this
    together: float = 0.03  # of the axis: curves that are nearer are one group
    size: tuple = (1000, 600)
    letters: int = 42       # of a line of names

    def right(self):
        """The plot's right edge, in pixels."""
        return self.size[0] - LEAD - self.letters * LETTER

    def width(self):
        return self.right() - LEFT

    def height(self):
        return self.size[1] - BOTTOM - TOP


@dataclasses.dataclass
class Group:
    names: list
    colour: str
    point: int
    ends: tuple         # where the leading line begins: x, y
    lines: list         # of text
    at: float = 0.0     # the text's middle, in heights of the plot


def crossing(points, y):
    """The x at which a curve that grows reaches y."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if y0 <= y <= y1 and y1 > y0:
            return x0 + (x1 - x0) * (y - y0) / (y1 - y0)
    return points[-1][0]


def outline(picture, points):
    """{where: place on the axis}: what two curves are compared by."""
    if picture.cdf:
        span = picture.y.most
        return {percent: picture.x.place(crossing(points, percent))
                for percent in (5, 10, 25, 50, 75, 90, 95) if percent < span}
    return {x: picture.y.place(y) for x, y in points}


def named(picture, names):
    """A group's text, in lines."""
    said = [f"{name} {picture.note[name]}" if name in picture.note else name
            for name in names]
    # A remark stays with its name.
    text = ", ".join(one.replace(" ", "\xa0") for one in said)
    if len(names) > 3:
        text = f"{len(names)} locks: {text}"
    lines = textwrap.wrap(text, picture.letters, break_long_words=False)
    return [line.replace("\xa0", " ") for line in lines]


def end_of(picture, names):
    """Where the line to a group's name begins: between its longest curves."""
    ends = sorted(picture.series[name][-1] for name in names)
    longest = [y for x, y in ends if x == ends[-1][0]]
    return ends[-1][0], longest[len(longest) // 2]


def coloured(picture):
    outlines = {name: outline(picture, points)
                for name, points in picture.series.items()}
    worn = dict(picture.styles)
    known = dict.fromkeys([*worn.values(), *zip(COLOURS, POINTS)])
    grey, *found = groups_of(outlines, picture.together, len(known))
    # Those that have a style choose before those that want a new one.
    found.sort(key=lambda names: not any(name in worn for name in names))
    styled = [(grey, (GREY, 0))] if grey else []
    for names in found:
        own = [worn[name] for name in names if worn.get(name) in known]
        new = [style for style in known if style not in worn.values()]
        style = [*own, *new, *known][0]
        del known[style]
        styled.append((names, style))
        for name in names:
            picture.styles.setdefault(name, style)
    return [Group(names, *style, end_of(picture, names), named(picture, names))
            for names, style in styled]


def arranged(picture):
    """The groups, from the lowest name to the highest."""
    groups = coloured(picture)
    if picture.cdf:
        # All end at the top: each is met at a height of its own, the first to
        # rise at the highest.
        groups.sort(key=lambda g: -crossing(picture.series[g.names[0]], 50))
        for i, g in enumerate(groups):
            y = picture.y.most * (i + 0.7) / (len(groups) + 0.4)
            g.ends = (crossing(picture.series[g.names[0]], y), y)
    else:
        groups.sort(key=lambda g: picture.y.place(g.ends[1]))
    middles = spread([picture.y.place(g.ends[1]) for g in groups],
                     [LINE * (len(g.lines) + 0.5) / picture.height()
                      for g in groups])
    for g, middle in zip(groups, middles):
        g.at = middle
    return groups


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def axis_script(letter, axis):
    ticks = ", ".join(f"{quoted(text)} {value:g} {0 if text else 1}"
                      for value, text in axis.ticks)
    log = f"set logscale {letter}\n" if axis.log else ""
    # A little more, or gnuplot 5.4 leaves out some ticks at the ends.
    more = 1e-9 * (axis.most - axis.least)
    least = axis.least * (1 - 1e-9) if axis.log else axis.least - more
    # Left of long numbers there is less room than gnuplot leaves.
    long = letter == "y" and max(len(text) for _, text in axis.ticks) > 7
    return (f"{log}set {letter}range [{least!r}:{axis.most + more!r}]\n"
            f"set {letter}tics ({ticks}) nomirror\n"
            f"set {letter}label {quoted(axis.label)}"
            f"{' offset 2' if long else ''}\n")


def name_script(picture, group):
    x, y = group.ends
    colour = GREY_TEXT if group.colour == GREY else group.colour
    begin = 1 + LEAD / picture.width()
    line = LINE / picture.height()
    text = (f"set arrow from first {x:g}, first {y:g} to "
            f"graph {begin - 5 / picture.width():.4f}, "
            f"graph {group.at:.4f} nohead lw 0.7 dt 3 "
            f'lc rgb "{colour}"\n')
    top = group.at + line * (len(group.lines) - 1) / 2
    for i, words in enumerate(group.lines):
        text += (f"set label {quoted(words)} at graph {begin:.4f}, "
                 f"graph {top - i * line:.4f} left noenhanced "
                 f'tc rgb "{colour}"\n')
    return text


def together_script(picture, groups):
    """Below the names: what it means that some stand together."""
    if all(len(group.names) == 1 for group in groups):
        return ""
    near = f"{100 * picture.together:g} % of the axis"
    said = ["Named together: within", near]
    grey = next((g.names for g in groups if g.colour == GREY), [])
    if any(apart(outline(picture, picture.series[a]),
                 outline(picture, picture.series[b])) > picture.together
           for a, b in itertools.combinations(grey, 2)):
        said[1] += REST
    text = ""
    for line, words in enumerate(said):
        text += (f"set label {quoted(words)} at graph "
                 f"{1 + LEAD / picture.width():.4f}, "
                 f"graph {-(line + 1.9) * LINE / picture.height():.4f} left "
                 f'noenhanced tc rgb "#404040"\n')
    return text


def edges_script(picture):
    width, height = picture.size
    return (f"set lmargin at screen {LEFT / width:.4f}\n"
            f"set rmargin at screen {picture.right() / width:.4f}\n"
            f"set bmargin at screen {BOTTOM / height:.4f}\n"
            f"set tmargin at screen {1 - TOP / height:.4f}\n")


def band(picture, group):
    """From the lowest to the highest curve of a group: x, low, high."""
    at = {}
    for name in group.names:
        for x, y in picture.series[name]:
            at.setdefault(x, []).append(y)
    return [(x, min(ys), max(ys)) for x, ys in sorted(at.items())]


def script(picture):
    """All that gnuplot needs but the terminal and the file's name."""
    groups = arranged(picture)
    blocks, plots, names = [], [], ""

    def block(rows):
        name = f"$d{len(blocks)}"
        blocks.append(f"{name} << EOD\n" + "".join(
            " ".join(f"{value:g}" for value in row) + "\n" for row in rows)
            + "EOD\n")
        return name

    for group in groups:
        names += name_script(picture, group)
        colour = f'lc rgb "{group.colour}"'
        if len(group.names) > 1 and not picture.cdf:
            plots.append(f"{block(band(picture, group))} using 1:2:3 "
                         f"with filledcurves fs solid 0.2 noborder {colour} "
                         "notitle")
        for name in group.names:
            how = ("lines" if picture.cdf else
                   f"linespoints pt {group.point} ps 0.7")
            # The title is what a browser says of the curve under the mouse.
            plots.append(f"{block(picture.series[name])} using 1:2 with {how} "
                         f"lw {1.5 if group.colour == GREY else 2} {colour} "
                         f"title {quoted(name)} noenhanced")
    return ("".join(blocks)
            + f"set title {quoted(picture.title)} noenhanced\n"
            "set key off\nset border 3\nset grid ytics lc rgb \"#dddddd\"\n"
            + edges_script(picture)
            + axis_script("x", picture.x) + axis_script("y", picture.y)
            + names + together_script(picture, groups)
            + "plot " + ", \\\n\t".join(plots) + "\n")


def draw(picture, folder, gnuplot="gnuplot", suffixes=tuple(TERMINALS)):
    """The files it has written."""
    given = pathlib.Path(folder, f"{picture.name}.gp")
    given.write_text(script(picture), encoding="utf-8")
    made = []
    for suffix in suffixes:
        path = f"{folder}/{picture.name}.{suffix}"
        terminal = TERMINALS[suffix].format(",".join(map(str, picture.size)))
        done = subprocess.run(
            [gnuplot, "-e", f"set terminal {terminal}; "
             f"set output {quoted(path)}", str(given)],
            text=True, capture_output=True)
        if done.returncode or done.stderr.strip():
            raise SystemExit(f"FAIL: gnuplot: {done.stderr}")
        made.append(path)
    return made
