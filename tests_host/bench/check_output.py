# SPDX-License-Identifier: MIT
"""The bench's smoke test: short runs, whole output, no figure judged.

Every lock that the program lists must have its rows in every CSV file that has
rows by lock, every cell must be filled, every figure be a number. A thread has
one section in each trial at least, and so each lock has a rate. Whoever passes
over a ticket takes the lock, and so does its owner later: twice as many
acquisitions as tickets that are passed over. The check is itself checked: a
file with a row, a cell or a figure less must fail it, and one with a rate of 0.

The work of all sections is one loop, within a cache line: the program's code is
read for others. No time decides.
"""

import csv
import operator
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "toolchain"), str(ROOT / "tests_host/machine")]
import listing
import tool

# Files, and whether each lock must be in it; in those that are not for every
# lock, some must be (a lock for 2 is in no trial of 8).
FILES = {"uncontended.csv": True, "contended.csv": True, "handoff.csv": True,
         "scaling.csv": True, "sequences.csv": False, "sizes.csv": False,
         "bars.csv": False}
# The locks that must be in the files on locks that sleep.
SLEEPERS = ("mutex", "mutex (hosted)", "pthread_mutex", "std::atomic wait")
# An unlock hands these over: the waiter is not only told.
LENDING = ("inheriting_mutex", "pthread_mutex PI")
SHARED_SLEEPERS = ("shared_mutex", "shared_mutex (hosted)", "pthread_rwlock",
                   "std::shared_mutex")
SLEEPING = {"turns.csv": (
                "semaphore", "semaphore (hosted)", "completion",
                "completion (hosted)", "wait_queue", "wait_queue (hosted)",
                "condition", "condition (hosted)", "sem_t", "pthread_cond",
                "std::counting_semaphore", "std::condition_variable"),
            "told.csv": SLEEPERS,
            "sleeping.csv": SLEEPERS + LENDING + SHARED_SLEEPERS}
# Files with a row for each lock that readers share.
SHARED = ("shared_alone.csv", "shared.csv")
# Files that say what a section costs each row, and whether that is equal.
ALONE = ("uncontended.csv", "shared_alone.csv")
# The locks of the files on more threads than cores, from a run of their own.
WAITERS = ("ticket_lock<u8>", "queued_lock", "timeout_lock",
           "backoff_ttas_lock", "preemptable_ticket_lock<u8>",
           "preemptable_ticket_lock<u16>")
CROWDED = {"crowded.csv": WAITERS, "overtakings.csv": WAITERS[-2:]}

# File, column and its values, with each of which each lock has a row.
CASES = (("shared.csv", "writers", ("0", "1", "10", "50")),
         ("crowded.csv", "load", ("a thread a core", "crowded", "a second")),
         ("turns.csv", "cores", ("1", "2")),
         ("sleeping.csv", "pinned", ("0", "1")),
         ("sleeping.csv", "data", ("0", "1")))

LINE = 64  # bytes of a cache line

WORDS = {"lock", "kind", "load", "loop", "bar", "verdict", "limit",
         "distance"}


def impossible(heads, row):
    """Returns what cannot be true of a row on any machine."""
    by_head = dict(zip(heads, row))
    if by_head.get("rate_median") in ("0", "-"):
        return "no rate"
    if "passed" in by_head:
        disturbed, passed, all_of_them = (
            float(by_head[head])
            for head in ("passed_disturbed", "passed", "acquisitions"))
        if not disturbed <= passed <= all_of_them / 2:
            return "more are passed over than there are"
    return ""


def faults(name, rows, locks):
    """Returns the faults of a CSV file; the first of its rows has the heads."""
    if len(rows) < 2:
        return [f"{name}: no rows"]
    heads, found = rows[0], []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(heads):
            found.append(f"{name}:{number}: {len(row)} cells for "
                         f"{len(heads)} heads")
            continue
        for head, cell in zip(heads, row):
            if head in WORDS:
                good = cell != ""
            else:
                good = cell == "-" or is_number(cell)
            if not good:
                found.append(f"{name}:{number}: {head} is '{cell}'")
        if not found and impossible(heads, row):
            found.append(f"{name}:{number}: {impossible(heads, row)}")
    for head, values in ((h, v) for file, h, v in CASES if file == name):
        column = heads.index(head)
        found += [f"{name}: no row for {lock}, {head} {value}"
                  for lock in locks for value in values
                  if not any(row[0] == lock and row[column] == value
                             for row in rows[1:] if len(row) > column)]
    if name in ALONE and not found:
        found += [f"{name}: {row[0]}: {row[heads.index('verdict')]}"
                  for row in rows[1:] if not is_right_verdict(heads, row)]
    if name == "sleeping.csv" and not found:
        found += [f"{name}: {fault}" for fault in wrong_verdicts(rows)]
    if FILES.get(name, True):
        there = {row[0] for row in rows[1:] if row}
        found += [f"{name}: no row for {lock}" for lock in locks
                  if lock not in there]
    return found


def is_right_verdict(heads, row):
    """Whether a row that "differs" is one whose sections do not cost what those
    of others do, by more than 2 %. Figures are rounded, so there is a margin."""
    away = [abs(float(cell) - 1) for head, cell in zip(heads, row)
            if head.endswith("section_to_median") and cell != "-"]
    verdict = row[heads.index("verdict")]
    return (verdict == "differs" and max(away) > 0.0194
            or verdict == "equal" and max(away, default=0) < 0.0206)


def wrong_verdicts(rows):
    """Yields the rows whose verdict does not follow from the figures."""
    lines = [dict(zip(rows[0], row)) for row in rows[1:]]
    load = rows[0][1:6]

    def reasons(mine, margin, exceeds):
        """Returns the bars that are missed; figures are rounded, so there is a margin."""
        shared = mine["lock"].startswith("shared")
        limit = 1.1 if shared and mine["writers"] != "1" else 1.0
        if float(mine["to_peer"]) < limit + margin:
            yield "rate"
        if (not shared and mine["threads"] != "2"
                and float(mine["longest_run"]) >= 10000):
            yield "run"
        for peer in lines:
            if (peer["verdict"] == "-" and peer["lock"] != LENDING[0]
                    and all(peer[head] == mine[head] for head in load)
                    and all(exceeds(float(peer[f"{figure}_q1"]),
                                    float(mine[f"{figure}_q3"]))
                            for figure in ("rate", "jain"))):
                yield f"{peer['lock']} is faster and fairer"

    for mine in lines:
        verdict = mine["verdict"]
        given = set(verdict.removeprefix("missed: ").split(", ")) - {"met"}
        if verdict != "-" and not (
                set(reasons(mine, -0.01, operator.gt)) <= given
                <= set(reasons(mine, 0.01, operator.ge))):
            yield " ".join(mine.values())


def is_number(cell):
    try:
        return float(cell) == float(cell)  # nan is not itself
    except ValueError:
        return False


def must_fail(name, rows, locks):
    """The check on files that are broken on purpose."""
    lost = [row for row in rows if row[0] != locks[-1]]
    short = rows[:-1] + [rows[-1][:-1]]
    broken = rows[:-1] + [rows[-1][:-1] + ["nan"]]
    bad_files = [("a lock is missing", lost), ("a cell is missing", short),
                 ("a figure is not a number", broken)]
    if "rate_median" in rows[0]:
        rate = rows[0].index("rate_median")
        still = rows[-1][:rate] + ["0"] + rows[-1][rate + 1:]
        bad_files.append(("a lock has no rate", rows[:-1] + [still]))
    if name in ALONE:
        end = rows[0].index("verdict")
        for slow, verdict in (("1.050", "equal"), ("1.000", "differs"),
                              ("0.950", "equal")):
            row = rows[-1][:end - 1] + [slow, verdict]
            if "read_section_to_median" in rows[0]:
                row[end - 3] = "1.000"
            bad_files.append((f"{slow} of a section is {verdict}",
                              rows[:-1] + [row]))
    if name == "sleeping.csv":
        verdict = rows[0].index("verdict")
        mine = next(row for row in rows[1:] if row[verdict] != "-")
        given = "missed: rate" if mine[verdict] == "met" else mine[verdict]
        slow = mine[:verdict]
        slow[rows[0].index("to_peer")] = "0.50"
        for start, wrong in ((slow, "met"), (
                mine[:verdict], given + ", nobody is faster and fairer")):
            bad_files.append((wrong, [
                [*start, wrong, *row[verdict + 1:]]
                if row is mine else row for row in rows]))
    return [f"{name}: not noticed: {what}" for what, bad in bad_files
            if not faults(name, bad, locks)]


# A loop of work(), as compilers write it.
LOOP = "1: imul rax, rax\nadd edx, 1\ncmp edi, edx\njne 1b\nret\n"
# Code in which the work is not one loop within a line.
WRONG_LOOPS = {
    "crosses a line": ".p2align 6\n.skip 58\nwork: " + LOOP,
    "are 2 loops": f"work: {LOOP}copy: {LOOP}",
    "are 0 loops": "work: ret\n"}


def wrong_loops(code):
    """Yields what is wrong with the loop that is the work of all sections: if
    rows had copies of it, their figures would tell where these lie."""
    loops = []
    for branch in code.at.values():
        start = listing.goes_to(branch)
        inside = [code.at[at] for at in range(start, branch.address)
                  if at in code.at] if branch.address - start < LINE else []
        if any(i.name == "imul" and len(set(i.operands.split(","))) == 1
               and "," in i.operands for i in inside):
            loops.append((start, branch.after))
    if len(loops) != 1:
        yield f"the work of all rows are {len(loops)} loops: {loops}"
    for start, after in loops:
        if start // LINE != (after - 1) // LINE:
            yield f"the loop of work() at {start:x} crosses a line"


def loops_not_noticed():
    """Yields the planted loops that wrong_loops() takes for right."""
    with tempfile.TemporaryDirectory() as folder:
        for fault, source in WRONG_LOOPS.items():
            code = listing.assemble("x86", source, folder)
            if not any(fault in found for found in wrong_loops(code)):
                yield f"not noticed: the loops of work() that {fault}"


def tables(out, locks):
    """Yields what the README's tables lack: some rows of which they are made."""
    made = subprocess.run(
        [sys.executable, ROOT / "tests_host/bench/tables.py", out], text=True,
        capture_output=True)
    if made.returncode:
        yield f"tables.py: status {made.returncode}: {made.stderr}"
    for name, wanted in (("measured", locks), ("shared", SHARED_SLEEPERS),
                         ("crowded", WAITERS), ("sleep", SLEEPERS)):
        table = made.stdout.partition(f"{name}:\n")[2]
        yield from (f"tables.py: {name}: no row of {lock}" for lock in wanted
                    if f"\n| {lock} |" not in table)


def full_disk(bench):
    """Returns the faults of a run that cannot write its files."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [bench, "--smoke", "--sizes", "--out", folder], text=True,
            capture_output=True, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (9, 9)))
        left = [path.name for path in Path(folder).iterdir()]
    if (done.returncode != 2 or left or done.stderr.count("\n") != 1
            or "sizes.csv: File too large" not in done.stderr):
        yield (f"a full disk: status {done.returncode}, {left} is left: "
               f"{done.stderr}")


def interrupted(bench):
    """Yields what is wrong where Ctrl-C ends a run: what was said is in its
    file."""
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen([bench, "--out", folder], text=True,
                              stdout=subprocess.PIPE) as process:
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            process.stdout.read()
        path = Path(folder) / "report.txt"
        text = path.read_text() if path.exists() else "(no file)"
        left = sorted(path.name for path in Path(folder).iterdir())
        if (process.returncode != 130 or not text.startswith(first)
                or "STOPPED" not in text or left != [path.name]):
            yield f"Ctrl-C: {process.returncode}, {left}: {text}"


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("bench", type=tool.existing, help="klock_bench")
    parser.add_argument("out", type=Path, help="the folder of the files")
    args = parser.parse_args()
    bench, out = args.bench, args.out
    names = (*FILES, *SHARED, *SLEEPING, *CROWDED)
    for name in names:
        for folder in (out, out / "crowded"):
            (folder / name).unlink(missing_ok=True)
    locks, shared = (
        subprocess.run([bench, "--list", *only], check=True, text=True,
                       capture_output=True).stdout.splitlines()
        for only in ((), ("--shared",)))
    subprocess.run([bench, "--smoke", "--out", out], check=True)
    subprocess.run([bench, "--crowded", "--smoke", "--trial-us", "20",
                    "--out", out / "crowded"], check=True)
    found = [] if locks and shared else ["a list of locks is empty"]
    found += wrong_loops(listing.disassemble("x86", bench))
    found += loops_not_noticed()
    found += full_disk(bench)
    found += interrupted(bench)
    for name in names:
        folder = out / "crowded" if name in CROWDED else out
        with (folder / name).open(newline="") as file:
            rows = list(csv.reader(file))
        rows_of = (CROWDED | SLEEPING).get(
            name, shared if name in SHARED else locks)
        found += faults(name, rows, rows_of)
        if name == "uncontended.csv" or name not in FILES:
            found += must_fail(name, rows, rows_of)
    found += tables(out, locks)
    for line in found:
        print(line)
    print(f"{len(locks)} locks, {len(shared)} that readers share, "
          f"{len(names)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
