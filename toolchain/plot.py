#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what this project measures, by matplotlib: a CSV file becomes pictures.

    plot.py [--out FOLDER] [--format png|svg] FILE...

The columns of a file say what it is: the lab's measurements (also a log of
mode=csv, with "head,", "row," and "hist," in front), its pairs of CPUs, the
benchmarks' tables, the simulator's. A curve has its name where it ends.

    plot.py --check PICTURE FILE

compares a picture (PNG) with what the file says today; needs no matplotlib:
each picture has its points with it.
"""
import argparse
import csv
import itertools
import json
import pathlib
import struct
import sys

SKIPPED = 77
TOLERANCE = 0.03    # of a value: counts move a little with the compiler
# Okabe and Ito, "Color Universal Design", 2008, without the yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
           "#000000")
DASHES = ("-", "--", ":", "-.")

# Of the simulator's locks, those that show what the others do, too.
SIMULATED = ("ttas_lock", "tas_lock", "ticket_lock<u16>", "tournament_lock",
             "padded_ticket_lock<u32>", "bakery_lock", "mcs_lock", "clh_lock",
             "anderson_lock", "graunke_thakkar_lock",
             "proportional_ticket_lock<u32>")
READERS = ("mcs_lock", "rw_ticket_lock<u16>", "phase_fair_lock<u16>",
           "reader_lock", "seq_lock")


class Trouble(Exception):
    """One line for the user."""


class Panel:
    """Curves of one pair of axes: {name: [(x, y)]}."""

    def __init__(self, title, x, y, curves, **how):
        self.title, self.x, self.y = title, x, y
        self.curves = {name: sorted(points)
                       for name, points in curves.items() if points}
        self.how = how      # logx, logy, step, names, heat


def read(path):
    """[{column: text}] and the bars of histograms, if there are any."""
    text = path.read_text(encoding="utf-8", errors="replace")
    rows, bars, names = [], [], []
    if "head," not in text:
        return list(csv.DictReader(text.splitlines())), bars
    for line in text.splitlines():
        kind, _, rest = line.strip().partition(",")
        fields = rest.split(",")
        if kind == "head":
            names, rows, bars = fields, [], []      # the last run's
        elif kind == "row" and len(fields) == len(names):
            rows.append(dict(zip(names, fields)))
        elif kind == "hist" and len(fields) == 5:
            bars.append((fields[0], *map(int, fields[1:])))
    return rows, bars


def curves_of(rows, x, y, scale=1, of=None, name="lock"):
    found = {lock: [] for lock in of or ()}
    for row in rows:
        if of is None or row[name] in of:
            found.setdefault(row[name], []).append(
                (float(row[x]), scale * float(row[y])))
    return found


def lengths(row):
    if "section_min" not in row:
        return ""
    section, think = (
        " to ".join(dict.fromkeys((row[f"{of}_min"], row[f"{of}_max"])))
        for of in ("section", "think"))
    return f", sections of {section} cycles, think time {think}"


def cdf(bars, cpus):
    """{lock: [(ns, % of handoffs that took at most so long)]}"""
    found = {}
    for lock, _, begin, end, count in (b for b in bars if b[1] == cpus):
        points = found.setdefault(lock, [(max(begin, 1), 0)])
        points.append((max(begin, 1), points[-1][1]))
        points.append((max(end, 1), points[-1][1] + count))
    return {lock: [(x, 100 * seen / points[-1][1]) for x, seen in points]
            for lock, points in found.items() if points[-1][1]}


def measured(rows, bars):
    rows = [row for row in rows if int(row["per_second"])]
    if not rows:
        raise Trouble("no acquisition in it")
    what = lengths(rows[0])
    yield "throughput", [Panel(
        "Throughput" + what, "CPUs that contend", "acquisitions per second",
        curves_of(rows, "cpus", "per_second"), logx=True, logy=True)]
    yield "fairness", [Panel(
        "Fairness" + what, "CPUs that contend",
        "Jain's index (1: equal shares, 1/n: one CPU of n has all)",
        curves_of(rows, "cpus", "jain_permille", 1e-3), logx=True)]
    cpus = max(int(row["cpus"]) for row in rows)
    if handoffs := cdf(bars, cpus):
        yield "latency", [Panel(
            f"Distribution of the handoff time, {cpus} CPUs{what}",
            "handoff time, ns", "handoffs that took at most so long, %",
            handoffs, logx=True, step=True)]


def simulated(rows, _bars):
    for column, label in (("misses", "cache misses per acquisition"),
                          ("cycles", "cycles per acquisition")):
        yield column, [Panel(
            f"{label.capitalize()}, simulated with a 28-core Xeon's latencies",
            "CPUs that contend", label,
            curves_of(rows, "cpus", column, of=SIMULATED),
            logx=True, logy=True)]


def readers(rows, _bars):
    shares = sorted({int(row["writers"]) for row in rows})
    yield "readers", [Panel(
        f"{share} % of the sections are writes", "CPUs",
        "sections per 100,000 cycles",
        curves_of([row for row in rows if int(row["writers"]) == share],
                  "cpus", "rate", 100, READERS), logx=True, logy=True)
        for share in shares]


def scaling(rows, _bars):
    rows = [row for row in rows if float(row["rate_median"]) > 0]
    for kind, name in (("klock", "klock"), ("peer", "peers")):
        of = [row for row in rows if row["kind"] == kind]
        if of:
            yield f"scaling_{name}", [Panel(
                f"Throughput, critical sections of {of[0]['section_cycles']} "
                "cycles", "threads, each on a core of its own",
                "acquisitions per second",
                curves_of(of, "threads", "rate_median"), logx=True, logy=True)]


def contended(rows, _bars):
    two = [row for row in rows if row["threads"] == "2"
           and row["kind"] != "floor"]
    yield "contended", [Panel(
        "Throughput of two threads", "cycles of a critical section",
        "acquisitions per second",
        curves_of(two, "section_cycles", "rate_median"), logy=True)]


def against(title, column, by="kind"):
    """A bar a lock, in the colour of its kind; or a dot a load."""
    def draw(rows, _bars):
        found = {}
        for row in rows:
            found.setdefault(row[by], []).append((row["lock"],
                                                  float(row[column])))
        yield "", [Panel(title, "", "times", found, names=True)]
    return draw


def pairs(rows, _bars):
    found = {}
    for row in rows:
        a, b, ns = int(row["cpu"]), int(row["other"]), float(row["ns"])
        found.setdefault(a, []).append((b, ns))
        found.setdefault(b, []).append((a, ns))
    cpus = 1 + max(found)
    for cpu in range(cpus):
        if len(found.get(cpu, [])) != cpus - 1:
            raise Trouble(f"not all pairs of CPU {cpu}: is the log whole?")
    yield "pairs", [Panel("One handoff between two CPUs, ns", "CPU", "CPU",
                          {str(cpu): found[cpu] for cpu in range(cpus)},
                          heat=True)]


# The columns that no other kind has together; the most wanted first.
KINDS = (
    ({"cpu", "other", "ns"}, pairs),
    ({"lock", "cpus", "misses"}, simulated),
    ({"lock", "cpus", "writers", "rate"}, readers),
    ({"lock", "cpus", "per_second"}, measured),
    ({"lock", "load", "ratio_median"}, against(
        "A lock beside its data, to one on a line of its own",
        "ratio_median", "load")),
    ({"threads", "kind", "to_one_thread"}, scaling),
    ({"threads", "kind", "section_cycles"}, contended),
    ({"lock", "kind", "ratio_min"}, against(
        "Lock and unlock by one thread, to a bare lock xadd", "ratio_min")),
    ({"lock", "kind", "ratio_median"}, against(
        "Two threads: cycles per acquisition, to a ping-pong on one line",
        "ratio_median")),
)


def pictures(path):
    """(name, [Panel]) of a file."""
    rows, bars = read(path)
    columns = set(rows[0]) if rows else set()
    for wanted, kind in KINDS:
        if wanted <= columns:
            for name, panels in kind(rows, bars):
                yield name or path.stem, panels
            return
    raise Trouble(f"{path}: no rows of a kind that can be drawn")


def points_of(panels):
    return [{str(name): points for name, points in panel.curves.items()}
            for panel in panels]


def spread(wanted, least):
    """Heights as near to those wanted as `least` between two allows."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = list(wanted)
    for below, i in zip([None] + order, order):
        if below is not None:
            placed[i] = max(placed[i], placed[below] + least)
    top = max(1, max(wanted)) + least
    for i in reversed(order):
        top = placed[i] = min(placed[i], top - least)
    return placed


def name_ends(axes, ends, size):
    """Each name to the right of its curve's end, and a thin line to it."""
    to_axes = axes.transData + axes.transAxes.inverted()
    wanted = [to_axes.transform(end)[1] for _, end, _ in ends]
    height = axes.get_window_extent().height / axes.figure.dpi * 72
    for (name, end, colour), y in zip(ends, spread(wanted,
                                                   1.15 * size / height)):
        axes.annotate(name, end, xytext=(1.06, y), textcoords=axes.transAxes,
                      va="center", fontsize=size, color=colour,
                      arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5,
                                  "relpos": (0, 0.5), "shrinkA": 0,
                                  "shrinkB": 2})


def draw_curves(axes, panel, styles):
    from matplotlib import ticker
    ends = []
    for name, points in panel.curves.items():
        colour, dash = styles.setdefault(
            name, (COLOURS[len(styles) % len(COLOURS)],
                   DASHES[len(styles) // len(COLOURS) % len(DASHES)]))
        x, y = zip(*points)
        axes.plot(x, y, color=colour, linestyle=dash, linewidth=1.3,
                  marker=None if "step" in panel.how else "o", markersize=2.5)
        ends.append((name, points[-1], colour))
    for axis, scale, wanted in ((axes.xaxis, axes.set_xscale, "logx"),
                                (axes.yaxis, axes.set_yscale, "logy")):
        if wanted in panel.how:
            scale("log")
            axis.set_major_locator(ticker.LogLocator(
                subs=(1,) if "step" in panel.how else (1, 2, 5)))
            axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.12g}"))
            axis.set_minor_locator(ticker.NullLocator())
    counts = sorted({x for points in panel.curves.values() for x, _ in points})
    if "step" not in panel.how and len(counts) <= 12:
        axes.set_xticks(counts, [f"{x:,g}" for x in counts])
    axes.margins(x=0.02)
    if "step" in panel.how:     # names above, so that no line crosses a curve
        axes.set_ylim(0, 140)
        axes.set_yticks(range(0, 101, 20))
        ends.sort(key=lambda end: -end[1][0])
    axes.figure.canvas.draw()       # the axes' limits and sizes are known
    name_ends(axes, ends, 7 if len(ends) > 12 else 8)


def draw_names(axes, panel):
    names = list(dict.fromkeys(lock for points in panel.curves.values()
                               for lock, _ in points))
    for (label, points), colour in zip(panel.curves.items(),
                                       itertools.cycle(COLOURS)):
        axes.plot([y for _, y in points],
                  [names.index(lock) for lock, _ in points],
                  "o", color=colour, markersize=4, label=label)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set(xlabel=panel.y, ylabel=panel.x)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def draw_heat(axes, panel):
    cpus = len(panel.curves)
    block = [[dict(panel.curves[str(a)]).get(b, 0) for b in range(cpus)]
             for a in range(cpus)]
    axes.locator_params(integer=True)
    axes.figure.colorbar(axes.imshow(block, cmap="Blues", vmin=0))


def draw(panels, path):
    import matplotlib       # only here: --check goes without
    matplotlib.use("Agg")
    from matplotlib import pyplot
    across = 2 if len(panels) > 1 else 1
    down = -(-len(panels) // across)
    tall = 5.2 if len(panels[0].curves) <= 16 else 8
    if "names" in panels[0].how:
        tall = 7
    figure, all_axes = pyplot.subplots(
        down, across, squeeze=False,
        figsize=(7.5 * across if across == 1 else 12, tall if down == 1 else 8))
    figure.subplots_adjust(left=0.09 if across > 1 else 0.17, top=0.93,
                           right=0.85 if across > 1 else 0.7, wspace=0.75,
                           hspace=0.32, bottom=0.09)
    styles = {}
    for axes, panel in zip(all_axes.flat, panels):
        axes.set(xlabel=panel.x, ylabel=panel.y)
        axes.set_title(panel.title, fontsize=9, loc="left")
        if "heat" in panel.how:
            draw_heat(axes, panel)
        elif "names" in panel.how:
            draw_names(axes, panel)
        else:
            axes.grid(True, color="#dddddd", linewidth=0.5)
            draw_curves(axes, panel, styles)
    told = json.dumps(points_of(panels), separators=(",", ":"))
    figure.savefig(path, dpi=100, metadata={"Description": told})
    pyplot.close(figure)


def told_by(path):
    """The points that a picture has with it (PNG's text chunks)."""
    data, at = path.read_bytes(), 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + size]
        if kind == b"tEXt" and chunk.startswith(b"Description\0"):
            return json.loads(chunk.partition(b"\0")[2])
        at += size + 12
    raise Trouble(f"{path}: no points in it")


def is_near(told, now):
    if isinstance(now, dict):
        return told.keys() == now.keys() and all(
            is_near(told[name], now[name]) for name in now)
    if isinstance(now, (list, tuple)):
        return len(told) == len(now) and all(map(is_near, told, now))
    return told == now or (not isinstance(now, str)
                           and abs(told - now) <= TOLERANCE * abs(now))


def check(picture, path):
    now = next((points_of(panels) for name, panels in pictures(path)
                if name == picture.stem), None)
    if now is None or not is_near(told_by(picture), now):
        print(f"{picture} is not what {path} says: draw it again")
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--check", type=pathlib.Path, metavar="PICTURE")
    args = parser.parse_args()
    try:
        if args.check:
            return check(args.check, args.files[0])
        args.out.mkdir(parents=True, exist_ok=True)
        for path in args.files:
            for name, panels in pictures(path):
                to = args.out / f"{name}.{args.format}"
                draw(panels, to)
                print(to)
    except ImportError:
        print("no pictures without matplotlib: apt-get install "
              "python3-matplotlib")
    except (Trouble, OSError) as trouble:
        print(f"plot.py: {trouble}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
