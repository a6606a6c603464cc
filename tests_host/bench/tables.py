# SPDX-License-Identifier: MIT
"""The README's tables of benchmarks, made from the files of a run.

The folder is klock_bench's --out; those of runs with --crowded and --sleep may
lie in it, under these names. Without --write the tables are printed; with it
each is put between its marks in the README. A table whose files are not there
stays as it is. What was measured on another CPU (column Intel) is kept.
"""

import csv
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "toolchain"))
import tool

README = HERE / "README.md"
# Peers of the sleeping locks' table, and the locks beside them.
MUTEXES = ("mutex", "mutex (hosted)", "inheriting_mutex", "pthread_mutex",
           "pthread_mutex PI", "std::atomic wait", "absl Mutex", "nsync_mu",
           "vsync mutex")
SHARED_MUTEXES = ("shared_mutex", "shared_mutex (hosted)", "absl Mutex",
                  "nsync_mu")


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def markdown(heads, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in
                     [heads, ["---"] * len(heads), *lines]) + "\n"


def unique(values):
    return list(dict.fromkeys(values))


def digits(cell, number):
    return cell if cell in ("-", "") else f"{float(cell):.{number}f}"


def millions(cell):
    return digits(str(float(cell) / 1e6), 2)


def span(cells, number=2):
    """"0.93 to 1.10", or one figure if both are the same."""
    ends = unique(f"{end(map(float, cells)):,.{number}f}"
                  for end in (min, max)) if cells else ["-"]
    return " to ".join(ends)


def caption(folder):
    """Where and when a run was, and what its cores did meanwhile."""
    text = (folder / "report.txt").read_text()
    date = re.search(r"klock bench, (\S+)", text)[1]
    machine = re.search(r"\n(.*); clock ([\d.]+) GHz", text)
    compiler = re.search(r"\ncompiler (.*?),", text)[1]
    lost = re.search(r"\n(\d+ of \d+ contended trials lost a core).*?"
                     r"(\d+ of \d+) blocks", text)
    return (f"{machine[1]}; {machine[2]} GHz is a cycle's clock; compiler "
            f"{compiler}; {date}. {lost[1]}; the cores moved in {lost[2]} "
            "blocks.\n\n")


def clock(folder):
    return 1e9 * float(re.search(r"clock ([\d.]+) GHz", (
        folder / "report.txt").read_text())[1])


def measured(folder, old):
    """The costs alone, and rates under load."""
    alone = rows(folder / "uncontended.csv")
    reads = {row["lock"]: row for row in rows(folder / "shared_alone.csv")}
    loads = rows(folder / "contended.csv")
    intel = {}
    for line in old.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "Intel" in cells:
            column = cells.index("Intel")
        elif len(cells) > 5:
            intel[cells[0]] = cells[column]
    key = ("threads", "section_cycles", "distance")
    columns = unique(tuple(row[head] for head in key) for row in loads)
    rate = {(row["lock"], *(row[head] for head in key)): row["rate_median"]
            for row in loads}
    lines = []
    for row in alone:
        lock = row["lock"]
        if row["kind"] == "floor":
            continue
        read = reads.get(lock, {}).get("read_ratio_min", "-")
        lines.append([lock, row["bytes"], digits(row["ratio_min"], 2),
                      digits(read, 2), intel.get(lock, "-"),
                      *(millions(rate[lock, *column])
                        if (lock, *column) in rate else "-"
                        for column in columns)])
    turns = [(distance, span([row["ping_pong_cycles"] for row in loads
                              if row["distance"] == distance], 0))
             for distance in unique(row["distance"] for row in loads)]
    floor = next(row for row in alone if row["lock"] == "bare lock xadd")
    return (caption(folder) + "`lock xadd`: "
            f"{digits(floor['cycles_min'], 1)} cycles. A ping-pong's turn: "
            + ", ".join(f"{distance} {cycles} cycles"
                        for distance, cycles in turns) + ".\n\n"
            + markdown(["lock", "bytes", "alone", "a read", "Intel"] +
                       [f"{distance}, {threads} threads, {section}"
                        for threads, section, distance in columns], lines)
            + "\nCycles: " + ", ".join(
                f"{row['lock']} {digits(row['cycles_min'], 1)}"
                for row in rows(folder / "sequences.csv")) + ".\n")


def shared(folder, _old):
    """Readers and writers."""
    alone = rows(folder / "shared_alone.csv")
    loads = rows(folder / "shared.csv")
    key = ("section_cycles", "writers", "distance")
    columns = sorted(unique(tuple(row[head] for head in key) for row in loads),
                     key=lambda of: (of[2] != "near", int(of[0]), int(of[1])))
    rate = {(row["lock"], *(row[head] for head in key)): row["rate_median"]
            for row in loads}
    lines = [[row["lock"], row["bytes"], digits(row["read_ratio_min"], 2),
              digits(row["write_ratio_min"], 2),
              *(millions(rate[row["lock"], *column])
                if (row["lock"], *column) in rate else "-"
                for column in columns)] for row in alone]
    return caption(folder) + markdown(
        ["lock", "size", "read", "write"] +
        [f"{distance}, {section} cycles, {writers} %"
         for section, writers, distance in columns], lines)


def crowded(folder, _old):
    """Waiters that do not run: sections of 50 cycles; and overtakings."""
    loads = [row for row in rows(folder / "crowded.csv")
             if row["section_cycles"] == "50"]
    threads = unique(row["threads"] for row in loads
                     if row["load"] == "crowded")

    def cell(lock, count):
        row = next(row for row in loads if row["lock"] == lock and
                   row["load"] == "crowded" and row["threads"] == count)
        return (f"{millions(row['rate_median'])}; {row['to_ticket']} "
                f"({row['to_ticket_q1']} to {row['to_ticket_q3']}); "
                f"{row['to_own']}; {row['distance']}")

    lines = [[row["lock"], *(cell(row["lock"], count) for count in threads),
              digits(row["jain"], 2), digits(str(
                  1e3 * float(row["longest_wait_cycles"]) / clock(folder)), 0)]
             for row in loads if row["load"] == "a second"]
    passed = rows(folder / "overtakings.csv")
    heads = ["lock", "section_cycles", "acquisitions", "passed",
             "passed_in_1000", "passed_disturbed", "distance"]
    return caption(folder) + markdown(
        ["lock"] + [f"{count} threads: M/s; to ticket (quartiles); to its own "
                    "of one thread a core; cores" for count in threads] +
        ["for a second: Jain", "longest wait, ms"], lines) + (
            "\nPassed over, 2 threads on 2 cores:\n\n" +
            markdown([head.replace("_", " ") for head in heads],
                     [[row[head] for head in heads] for row in passed]))


def sleep(folder, _old):
    """Locks that sleep; ranges are over loads: pinned or not, data or not."""
    loads = rows(folder / "sleeping.csv")

    def of(lock, family, wanted, figure, number=2):
        return span([row[figure] for row in loads if row["lock"] == lock and
                     (row["writers"] == "100") == family and all(
                         row[head] == value for head, value in wanted.items())],
                    number)

    def lines(locks, exclusive, columns):
        for distance in ("near", "far", "moved"):
            for threads in unique(row["threads"] for row in loads):
                at = {"distance": distance, "threads": threads}
                for lock in locks:
                    cells = [of(lock, exclusive, {**at, **wanted}, *figure)
                             for wanted, *figure in columns(at)]
                    if set(cells) != {"-"}:
                        yield [lock, distance, threads, *cells]

    sections = unique(row["section_cycles"] for row in loads
                      if row["writers"] == "100")
    shares = unique((row["section_cycles"], row["writers"]) for row in loads
                    if row["writers"] != "100")
    turns = rows(folder / "turns.csv")
    return caption(folder) + markdown(
        ["a turn by", "cores", "us", "to the best peer"],
        [[row[head] for head in ("lock", "cores", "us_median", "to_peer")]
         for row in turns]) + "\n" + markdown(
             ["lock", "cores", "threads"] +
             [f"to pthread_mutex, {section} cycles" for section in sections] +
             ["Jain's index", "longest run, median"],
             lines(MUTEXES, True, lambda at: [
                 *(({"section_cycles": section}, "to_peer")
                   for section in sections),
                 ({}, "jain"), ({}, "longest_run", 0)])) + "\n" + markdown(
                     ["lock", "cores", "threads"] +
                     [f"to pthread_rwlock, {section} cycles, {writers} %"
                      for section, writers in shares],
                     lines(SHARED_MUTEXES, False, lambda at: [
                         ({"section_cycles": section, "writers": writers},
                          "to_peer") for section, writers in shares])) + (
                              "\n" + markdown(["bar", "ratio", "verdict"], [
                                  [row["bar"], digits(row["ratio"], 2),
                                   row["verdict"]]
                                  for row in rows(folder / "bars.csv")]))


# A table's mark, its maker, and one of the files that it is made of.
TABLES = (("measured", measured, "contended.csv"),
          ("shared", shared, "shared.csv"),
          ("crowded", crowded, "crowded.csv"),
          ("sleep", sleep, "sleeping.csv"))


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("results", type=tool.folder,
                        help="the folder of a run's files")
    parser.add_argument("--write", action="store_true",
                        help="puts the tables between their marks")
    args = parser.parse_args()
    text = README.read_text()
    for name, make, file in TABLES:
        folder = args.results / name
        if not (folder / file).exists():
            folder = args.results
        if not (folder / file).exists():
            continue
        start, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, found, rest = text.partition(start)
        old, found_end, after = rest.partition(end)
        if not found or not found_end:
            raise tool.Trouble(f"{README}: no lines {start}and {end}")
        new = make(folder, old)
        text = before + start + new + end + after
        if not args.write:
            print(f"{name}:\n{new}")
    if args.write:
        tool.write(README, text)
    return 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
