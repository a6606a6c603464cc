# SPDX-License-Identifier: MIT
"""The pictures of a measurement of locks: throughput and fairness against the
number of CPUs, the distribution of the handoff time."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "toolchain"))
import curves   # pylint: disable=wrong-import-position


def by_cpus(report, value):
    series = {}
    for r in report.rows:
        series.setdefault(r["lock"], []).append((r["cpus"], value(r)))
    return series


def cdf(report, cpus):
    """{lock: [(ns, % of handoffs that took at most so long)]}"""
    series = {}
    for lock, _, begin, end, count in (h for h in report.hists if h[1] == cpus):
        counts = series.setdefault(lock, [(max(begin, 1), 0)])
        seen = counts[-1][1]
        if begin > counts[-1][0]:   # none between the bars
            counts.append((begin, seen))
        counts.append((max(end, 1), seen + count))
    return {lock: [(x, 100 * seen / counts[-1][1]) for x, seen in counts]
            for lock, counts in series.items()}


def ends_early(series):
    """What is said of a lock that has no room for all CPUs."""
    last = max(points[-1][0] for points in series.values())
    return {lock: f"(up to {points[-1][0]} CPUs)"
            for lock, points in series.items() if points[-1][0] < last}


def against_cpus(name, title, label, series, worn, most=None):
    counts = sorted({x for points in series.values() for x, _ in points})
    top = 1.05 * max(y for points in series.values() for _, y in points) or 1
    return curves.Picture(
        name, title, curves.octaves("CPUs that contend", counts),
        curves.linear(label, most or top), series, note=ends_early(series),
        styles=worn)


def throughput(report, what, worn, clock=""):
    """what: the critical sections, in words; clock: whose seconds these are."""
    return against_cpus(
        "throughput", f"Throughput: {what}",
        f"million acquisitions per second{clock}",
        by_cpus(report, lambda r: r["per_second"] / 1e6), worn)


def fairness(report, what, worn):
    return against_cpus(
        "fairness", f"Fairness: {what}",
        "Jain's index (1: equal shares, 1/n: one CPU of n has all)",
        by_cpus(report, lambda r: r["jain_permille"] / 1000), worn, 1.05)


def latency(report, what, worn, clock=""):
    """At the most CPUs that there are; None: no handoff was seen there."""
    cpus = max(r["cpus"] for r in report.rows)
    series = cdf(report, cpus)
    times = [x for points in series.values() for x, _ in points]
    return times and curves.Picture(
        "latency", f"CDF of the handoff time, {cpus} CPUs: {what}",
        curves.decades(f"handoff time, ns{clock}", times),
        curves.Axis("handoffs that took at most this long, %", 0, 100,
                    [(n, f"{n}") for n in range(0, 101, 20)]),
        series, cdf=True, styles=worn)


def draw(picture, folder):
    return curves.draw(picture, folder)
