# SPDX-License-Identifier: MIT
"""Counts the code of every lock: bytes and instructions, klock and peers.

Reads klock_bench_code with nm and objdump, and runs it under callgrind where
valgrind is there. The same compiler gives the same figures on every machine.
Writes code.csv and bars_code.csv; prints a table.
"""

import bisect
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolchain"))
import tool

TICKET = "ticket_lock<"
MOST_TICKET_BYTES = 40  # lock() and unlock()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


class Program:
    """The functions of an executable: sizes, instructions, who calls whom."""

    def __init__(self, path):
        self.functions = {}   # address: (symbol, bytes)
        for line in output("nm", "-S", "--defined-only", path).splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[2] in "tTwWuVi":
                self.functions[int(parts[0], 16)] = (parts[3],
                                                     int(parts[1], 16))
        self.starts = sorted(self.functions)
        self.instructions = {}  # address of function: [text]
        for line in output("objdump", "-d", "--no-show-raw-insn",
                           path).splitlines():
            match = re.match(r"\s+([0-9a-f]+):\s+(\S.*)", line)
            if match:
                home = self.function_at(int(match[1], 16))
                if home is not None:
                    self.instructions.setdefault(home, []).append(match[2])

    def function_at(self, address):
        """The start of the function that the address lies in, or None."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0:
            return None
        start = self.starts[i]
        return start if address < start + self.functions[start][1] else None

    def leaves_for(self, start):
        """Functions that this one calls or jumps to; None in it: elsewhere."""
        targets = set()
        for text in self.instructions.get(start, []):
            match = re.match(r"(?:call|jmp|j\w+)\s+([0-9a-f]+)\b", text)
            if match:
                targets.add(self.function_at(int(match[1], 16)))
            elif re.match(r"(?:call|jmp)\s+\*", text):
                targets.add(None)
        return targets - {start}

    def called(self, starts):
        """All functions behind these, and whether code elsewhere is run."""
        found, todo, elsewhere = set(), list(starts), False
        while todo:
            for target in self.leaves_for(todo.pop()):
                if target is None:
                    elsewhere = True
                elif target not in found and target not in starts:
                    found.add(target)
                    todo.append(target)
        return found, elsewhere


def callgrind(path, out):
    """Instructions run by each symbol and all it calls; {} without valgrind."""
    valgrind = shutil.which("valgrind")
    if not valgrind:
        return {}
    dump = out / "callgrind.out"
    done = subprocess.run([valgrind, "--tool=callgrind", "--demangle=no",
                           "--compress-strings=no", "--compress-pos=no",
                           f"--callgrind-out-file={dump}", path, "run"],
                          capture_output=True, text=True,
                          env=dict(os.environ, LD_BIND_NOW="1"))
    if done.returncode != 0:
        print("callgrind failed, its counts are left out")
        return {}
    costs, symbol = {}, None
    for line in dump.read_text().splitlines():
        if line.startswith("fn="):
            symbol = line[3:]
        elif re.match(r"(?:0x[0-9a-f]+|\d+) \d+", line) and symbol:
            costs[symbol] = costs.get(symbol, 0) + int(line.split()[1])
    return costs


class Lock:
    def __init__(self, name, kind, family):
        self.name, self.kind, self.family = name, kind, family
        self.at = {}    # lock, unlock, try_lock: address

    def count(self, program, costs):
        pair = [self.at["lock"], self.at["unlock"]]
        size = {which: program.functions[at][1]
                for which, at in self.at.items()}
        called, self.elsewhere = program.called(pair)
        self.hot = size["lock"] + size["unlock"]
        self.cold = sum(program.functions[at][1] for at in called)
        self.sizes = [size.get(w, "-") for w in ("lock", "unlock", "try_lock")]
        self.written = sum(len(program.instructions.get(at, []))
                           for at in pair)
        # unlock() runs a second time behind try_lock()
        times = [1, 2 if "try_lock" in self.at else 1]
        ran = [costs.get(program.functions[at][0]) for at in pair]
        self.ran = ("-" if None in ran else
                    sum(round(cost / n) for cost, n in zip(ran, times)))

    def row(self):
        return [self.name, self.kind, *self.sizes, self.hot, self.cold,
                "yes" if self.elsewhere else "no", self.written, self.ran]


HEADS = ["lock", "kind", "lock_bytes", "unlock_bytes", "try_bytes",
         "hot_bytes", "called_bytes", "library", "instructions",
         "instructions_run"]


def read_locks(program_path):
    locks = {}
    for line in output(program_path).splitlines():
        name, kind, family, which, address = line.split(";")
        lock = locks.setdefault(name, Lock(name, kind, family))
        lock.at[which] = int(address, 16)
    return list(locks.values())


def bars(locks):
    """What the project has set itself: [bar, bytes, peer, verdict]."""
    for lock in locks:
        if lock.kind != "klock":
            continue
        if lock.name.startswith(TICKET):
            verdict = "met" if lock.hot <= MOST_TICKET_BYTES else "missed"
            yield [f"{lock.name}: lock + unlock <= {MOST_TICKET_BYTES} bytes",
                   lock.hot, MOST_TICKET_BYTES, verdict]
        peers = [p for p in locks if p.kind == "peer" and not p.elsewhere
                 and lock.name.startswith(p.family)]
        if not peers:
            continue
        best = min(peers, key=lambda p: p.hot + p.cold)
        mine, its = lock.hot + lock.cold, best.hot + best.cold
        yield [f"{lock.name}: code <= smallest peer of its family "
               f"({best.name})", mine, its,
               "met" if mine <= its else "missed"]


def show(path, title, heads, rows):
    """Into a CSV file, and as a table."""
    lines = [heads, *rows]
    with tool.NewFile(path) as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    lines = [[str(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines)]
    print(f"\n{title}\n{'-' * len(title)}")
    for line in lines:
        print("  ".join(cell.rjust(width) if i else cell.ljust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))))


def main():
    parser = tool.Parser(__doc__)
    parser.add_argument("program", type=tool.existing, help="klock_bench_code")
    parser.add_argument("out", type=Path, help="the folder of the files")
    args = parser.parse_args()
    program_path, out = args.program, args.out
    out.mkdir(parents=True, exist_ok=True)
    program = Program(program_path)
    costs = callgrind(program_path, out)
    locks = read_locks(program_path)
    for lock in locks:
        lock.count(program, costs)
    show(out / "code.csv", "Code: bytes and instructions of lock() and "
         "unlock()", HEADS, [lock.row() for lock in locks])
    print("called_bytes: functions that the two call; library: and code of a "
          "library besides,\nwhich is not counted; instructions_run: of an "
          "uncontended pair, all that it calls\nincluded, by callgrind"
          + ("" if costs else ": valgrind is not here, left out"))
    show(out / "bars_code.csv", "Bars", ["bar", "bytes", "limit", "verdict"],
         bars(locks))
    return 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
