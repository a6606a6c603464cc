#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what this project measures, by matplotlib: a CSV file becomes pictures.

    plot.py [--out FOLDER] [--format png|svg] [--optional] FILE...

The columns of a file say what it is: the lab's measurements (also a log of
mode=csv, with "head,", "row," and "hist," in front), its pairs of CPUs, the
benchmarks' curve, the simulator's. A curve has its name where it ends; curves
that cover each other are drawn once, with all of their names.

    plot.py --check PICTURE FILE

compares a picture (PNG) with what the file says today; needs no matplotlib:
each picture has its points with it.

0: drawn, or as it should be. 1: it is another. 2: one line says why not. 77: no
matplotlib; 0 with --optional.
"""
import csv
import io
import json
import os
import pathlib
import struct
import sys
import tempfile
import textwrap

from tool import Parser, Trouble, exit_status

SKIPPED = 77
TOLERANCE = 0.03    # of a value: counts move a little with the compiler
# Okabe and Ito, "Color Universal Design", 2008, without the yellow.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
           "#000000")
DASHES = ("-", "--", ":", "-.")

# The simulated locks to show: each stands for others that behave alike.
SIMULATED = ("ttas_lock", "tas_lock", "ticket_lock<u16>", "tournament_lock",
             "padded_ticket_lock<u32>", "bakery_lock", "mcs_lock", "clh_lock",
             "anderson_lock", "graunke_thakkar_lock", "queued_lock",
             "preemptable_ticket_lock<u16>", "proportional_ticket_lock<u32>")
READERS = ("mcs_lock", "rw_ticket_lock<u16>", "phase_fair_lock<u16>",
           "reader_lock", "seq_lock")


class Panel:
    """Curves of one pair of axes: {name: [(x, y)]}."""

    def __init__(self, title, x, y, curves, **how):
        self.title, self.x, self.y = title, x, y
        self.curves = {name: sorted(points)
                       for name, points in curves.items() if points}
        self.how = how      # logx, logy, whole, step, heat


def read(path):
    """[{column: text}] and the bars of histograms, if there are any."""
    text = path.read_text(encoding="utf-8", errors="replace")
    rows, bars, names = [], [], []
    if "head," not in text:
        try:
            return list(csv.DictReader(text.splitlines())), bars
        except csv.Error as error:
            raise Trouble(f"{path}: {error}") from None
    for line in text.splitlines():
        kind, _, rest = line.strip().partition(",")
        fields = rest.split(",")
        if kind == "head":
            names, rows, bars = fields, [], []      # the last run's
        elif kind == "row" and len(fields) == len(names):
            rows.append(dict(zip(names, fields)))
        elif kind == "hist" and len(fields) == 5:
            try:
                bars.append((fields[0], *map(int, fields[1:])))
            except ValueError:
                raise Trouble(f"{path}: damaged: {line}") from None
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
        curves_of(rows, "cpus", "jain_permille", 1e-3), logx=True,
        whole=True)]
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
    ({"threads", "kind", "to_one_thread"}, scaling),
)


def pictures(path):
    """(name, [Panel]) of a file."""
    rows, bars = read(path)
    columns = set(rows[0]) if rows else set()
    for wanted, kind in KINDS:
        if wanted <= columns:
            try:
                return list(kind(rows, bars))
            except Trouble as trouble:
                raise Trouble(f"{path}: {trouble}") from None
            except (ValueError, KeyError, TypeError) as error:
                raise Trouble(f"{path}: a row is damaged: {error}") from None
    raise Trouble(f"{path}: no rows of a kind that can be drawn")


def points_of(panels):
    return [{str(name): points for name, points in panel.curves.items()}
            for panel in panels]


def spread(wanted, heights):
    """Middles as near to those wanted, and to 0 to 1, as the heights allow."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed, end = list(wanted), 0
    for i in order:
        placed[i] = max(placed[i], end + heights[i] / 2)
        end = placed[i] + heights[i] / 2
    end = max(1, sum(heights))
    for i in reversed(order):
        placed[i] = min(placed[i], end - heights[i] / 2)
        end = placed[i] - heights[i] / 2
    return placed


def name_of(names):
    """"ticket_lock<u8, u16>, mcs_lock" of many, in lines."""
    found = {}
    for name in names:
        base, _, rest = name.partition("<")
        found.setdefault(base, []).append(rest.rstrip(">"))
    said = [base + (f"<{', '.join(filter(None, of))}>" if any(of) else "")
            for base, of in found.items()]
    # A line does not end inside of a name.
    said = ", ".join(name.replace(" ", "\0") for name in said)
    return "\n".join(textwrap.wrap(said, 32, break_long_words=False,
                                   break_on_hyphens=False)).replace("\0", " ")


def at_height(points, height):
    """Returns the x at which a curve that only rises has this height."""
    (x, y), *rest = points
    for next_x, next_y in rest:
        if next_y >= height:
            return x + (next_x - x) * (height - y) / (next_y - y or 1)
        x, y = next_x, next_y
    return x


def cover(axes, panel, one, other):
    """Whether nobody can tell two curves apart; the other may end sooner."""
    to_axes = axes.transData + axes.transAxes.inverted()
    if "step" in panel.how:
        return all(abs(to_axes.transform((at_height(one, y), 50))[0]
                       - to_axes.transform((at_height(other, y), 50))[0])
                   < 0.025 for y in range(10, 100, 10))
    one = dict(one)
    return all(x in one and abs(to_axes.transform((x, one[x]))[1]
                                - to_axes.transform((x, y))[1]) < 0.012
               for x, y in other)


def together(axes, panel):
    """[(names, points)]: curves that cover each other are one."""
    found = []
    for name, points in sorted(panel.curves.items(),
                               key=lambda curve: -len(curve[1])):
        for names, of in found:
            if cover(axes, panel, of, points):
                names.append(name)
                break
        else:
            found.append(([name], points))
    return found


def name_ends(axes, ends, size):
    """Each name to the right of its curve's end, and a thin line to it."""
    to_axes = axes.transData + axes.transAxes.inverted()
    line = 1.25 * size / (axes.get_window_extent().height
                          / axes.figure.dpi * 72)
    wanted = [to_axes.transform(end)[1] for _, end, _ in ends]
    heights = [line * (1 + name.count("\n")) for name, _, _ in ends]
    for (name, end, colour), y in zip(ends, spread(wanted, heights)):
        axes.annotate(name, end, xytext=(1.06, y), textcoords=axes.transAxes,
                      va="center", fontsize=size, color=colour,
                      arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5,
                                  "relpos": (0, 0.5), "shrinkA": 0,
                                  "shrinkB": 2})


def scale_axes(axes, panel, counts):
    from matplotlib import ticker
    for axis, scale, limits, wanted in (
            (axes.xaxis, axes.set_xscale, axes.get_xlim, "logx"),
            (axes.yaxis, axes.set_yscale, axes.get_ylim, "logy")):
        if wanted in panel.how:
            scale("log")
            low, high = limits()
            axis.set_major_locator(ticker.LogLocator(
                subs=(1,) if wanted == "logx" and high / low > 100
                else (1, 2, 5)))
            axis.set_major_formatter(ticker.StrMethodFormatter("{x:,.12g}"))
            axis.set_minor_locator(ticker.NullLocator())
    if "step" not in panel.how and len(counts) <= 12:
        axes.set_xticks(counts, [f"{x:,g}" for x in counts])
    axes.margins(x=0.02)
    if "whole" in panel.how:
        axes.set_ylim(0, 1.05)
    if "step" in panel.how:
        axes.set_ylim(0, 101)
        axes.set_yticks(range(0, 101, 20))


def draw_curves(axes, panel, styles):
    for points in panel.curves.values():    # for the limits: all of them
        axes.update_datalim(points)
    axes.autoscale_view()
    scale_axes(axes, panel, sorted({x for points in panel.curves.values()
                                    for x, _ in points}))
    axes.figure.canvas.draw()       # the axes' limits and sizes are known
    ends, lines = [], []
    for names, points in together(axes, panel):
        colour, dash = styles.setdefault(
            names[0], (COLOURS[len(styles) % len(COLOURS)],
                       DASHES[len(styles) // len(COLOURS) % len(DASHES)]))
        lines += axes.plot(
            *zip(*points), color=colour, linestyle=dash, linewidth=1.3,
            marker=None if "step" in panel.how else "o", markersize=2.5,
            label=name_of(names))
        ends.append((name_of(names), points[-1], colour))
    size = 7 if sum(1 + name.count("\n") for name, _, _ in ends) > 12 else 8
    if "step" not in panel.how:
        return name_ends(axes, ends, size)
    # All end at 100 %: a key, in the order of the medians.
    lines.sort(key=lambda line: at_height(list(zip(*line.get_data())), 50))
    axes.legend(handles=lines, fontsize=size, loc="upper left",
                bbox_to_anchor=(1, 1), frameon=False)
    return None


def draw_heat(axes, panel):
    cpus = len(panel.curves)
    block = [[dict(panel.curves[str(a)]).get(b, 0) for b in range(cpus)]
             for a in range(cpus)]
    axes.locator_params(integer=True)
    axes.figure.colorbar(axes.imshow(block, cmap="Blues", vmin=0))


def write(path, content):
    """Aside, then renamed: never half a picture, nor an older one's place
    empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)
        os.replace(aside, path)
    except BaseException as error:
        os.unlink(aside)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def draw(panels, path):
    import matplotlib       # only here: --check goes without
    matplotlib.use("Agg")
    from matplotlib import pyplot
    across = 2 if len(panels) > 1 else 1
    down = -(-len(panels) // across)
    tall = 5.2 if len(panels[0].curves) <= 16 else 8
    figure, all_axes = pyplot.subplots(
        down, across, squeeze=False,
        figsize=(7.5 * across if across == 1 else 12, tall if down == 1 else 8))
    left, right = (0.09, 0.85) if across > 1 else (0.17, 0.7)
    figure.subplots_adjust(left=left, right=right, top=0.93, wspace=0.75,
                           hspace=0.32, bottom=0.09)
    styles = {}
    for axes, panel in zip(all_axes.flat, panels):
        axes.set(xlabel=panel.x, ylabel=panel.y)
        axes.set_title(panel.title, fontsize=9, loc="left")
        if "heat" in panel.how:
            draw_heat(axes, panel)
        else:
            axes.grid(True, color="#dddddd", linewidth=0.5)
            draw_curves(axes, panel, styles)
    told = json.dumps(points_of(panels), separators=(",", ":"))
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=100,
                   metadata={"Description": told})
    pyplot.close(figure)
    write(path, drawn.getvalue())


def told_by(path):
    """The points that a picture has with it (PNG's text chunks)."""
    data, at = path.read_bytes(), 8
    try:
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            chunk = data[at + 8:at + 8 + size]
            if kind == b"tEXt" and chunk.startswith(b"Description\0"):
                return json.loads(chunk.partition(b"\0")[2])
            at += size + 12
    except (struct.error, ValueError):
        pass
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
    now = dict(pictures(path)).get(picture.stem)
    if now is None or not is_near(told_by(picture), points_of(now)):
        print(f"{picture} is not what {path} says: draw it again",
              file=sys.stderr)
        return 1
    return 0


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--optional", action="store_true",
                        help="no matplotlib is no failure")
    parser.add_argument("--check", type=pathlib.Path, metavar="PICTURE")
    return parser.parse_args()


def run(args):
    if args.check:
        return check(args.check, args.files[0])
    for path in args.files:
        for name, panels in pictures(path):
            to = args.out / f"{name}.{args.format}"
            draw(panels, to)
            print(to, flush=True)
    return 0


def main():
    args = arguments()
    try:
        return run(args)
    except ImportError:
        print("plot.py: no pictures without matplotlib, which "
              f"{sys.executable} does not find; toolchain/setup --all installs "
              "it for /usr/bin/python3", file=sys.stderr)
        return 0 if args.optional else SKIPPED


if __name__ == "__main__":
    sys.exit(exit_status(main))
