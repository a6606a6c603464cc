#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_selftest.py FOLDER: of each kind of file there is a picture, with each
of its curves and nothing outdated in it. 77: no matplotlib."""
import importlib.util
import pathlib
import sys

import plot

SIMULATED = "".join(f"{lock},{n},{n * i},{n}\n" for i, lock in
                    enumerate(plot.SIMULATED, 1) for n in (2, 4, 8))
READERS = "".join(f"{lock},{n},{share},{n * i}\n" for i, lock in
                  enumerate(plot.READERS, 1) for n in (2, 8)
                  for share in (0, 1, 10, 50))
MEASURED = ("head,lock,cpus,per_second,jain_permille\nrow,a,2,100,1000\n"
            "hist,a,4,10,20,3\nhist,a,4,40,50,1\nrow,a,4,900,900\n"
            "row,b,2,0,0\nrow,damaged\nrow,b,4,800,900\nPASS\n")
BENCH = "".join(f"{kind} {i},{kind},{n},50,{i * n},1,1,1,1,1\n"
                for kind in ("klock", "peer") for i in range(1, 9)
                for n in (2, 4))
# file, text, its pictures, names of curves in the first
CASES = [
    ("table.csv", "lock,cpus,misses,cycles\n" + SIMULATED,
     ["misses", "cycles"], plot.SIMULATED),
    ("readers.csv", "lock,cpus,writers,rate\n" + READERS, ["readers"],
     plot.READERS),
    ("lab.log", MEASURED, ["throughput", "fairness", "latency"], "ab"),
    ("pairs.csv", "cpu,other,ns\n1,0,5\n2,0,7\n2,1,6\n", ["pairs"], "012"),
    ("scaling.csv", "lock,kind,threads,section_cycles,rate_median,"
     "to_one_thread\n" + BENCH, ["scaling_klock", "scaling_peers"],
     [f"klock {i}" for i in range(1, 9)]),
    ("contended.csv", "lock,kind,threads,section_cycles,rate_median\n" + BENCH,
     ["contended"],
     [f"{kind} {i}" for kind in ("klock", "peer") for i in range(1, 9)]),
    ("uncontended.csv", "lock,kind,cycles,b,ratio_min\n" + BENCH,
     ["uncontended"], ["klock", "peer"]),
    ("handoff.csv", "lock,kind,cycles,b,ratio_median\n" + BENCH,
     ["handoff"], ["klock", "peer"]),
    ("layout.csv", "lock,load,ratio_median\na,rare,1.0\na,often,0.5\n",
     ["layout"], ["rare", "often"]),
]
WRONG = [("pairs.csv", "cpu,other,ns\n2,0,7\n"), ("none.csv", "a,b\n1,2\n"),
         ("empty.csv", "lock,cpus,per_second\na,2,0\n")]


def wrong(folder, name, text, titles, curves):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    found = dict(plot.pictures(path))
    if list(found) != titles:
        yield f"{name}: pictures {list(found)}"
        return
    if list(found[titles[0]][0].curves) != list(curves):
        yield f"{name}: curves {list(found[titles[0]][0].curves)}"
    for title, panels in found.items():
        picture = folder / f"{title}.png"
        plot.draw(panels, picture)
        if plot.check(picture, path):
            yield f"{picture}: out of date at once"
    # One value is another: found.
    told = plot.told_by(folder / f"{titles[0]}.png")
    first = next(iter(told[0].values()))[0]
    first[1] = first[1] * 1.1 + 1
    if plot.is_near(told, plot.points_of(found[titles[0]])):
        yield f"{name}: an old picture is not found"


def refused(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    try:
        list(plot.pictures(path))
    except plot.Trouble:
        return
    yield f"{name}: drawn: {text}"


def main():
    if importlib.util.find_spec("matplotlib") is None:
        print("skipped: no matplotlib")
        return plot.SKIPPED
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    failures = [line for case in CASES for line in wrong(folder, *case)]
    failures += [line for case in WRONG for line in refused(folder, *case)]
    heights = plot.spread([0.5, 0.5, 0.99, 0.99, 0.99], 0.1)
    if min(b - a for a, b in zip(sorted(heights), sorted(heights)[1:])) < 0.099:
        failures.append(f"names lie on each other: {heights}")
    print("\n".join(failures) or f"{len(CASES)} kinds are drawn")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
