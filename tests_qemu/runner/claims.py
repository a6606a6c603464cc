#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims of the source texts, seen in the lab: reproducible, as under icount.

fairness  test-and-set lets one CPU take the lock again and again, a ticket
          lock does not
backoff   exponential back-off hurts a ticket lock, proportional does not

README has what is printed: --write puts it there.
"""
import sys

import demo
import qemu
from output import Parser, exit_status
import plots

CPUS = 8


def arguments():
    parser = demo.table_arguments(__doc__)
    parser.add_argument("claim", choices=["fairness", "backoff"],
                        help="which of the two")
    parser.add_argument("--image", required=True,
                        help="the lab's .elf")
    return parser.parse_args()


FAIRNESS = ("tas_lock", "ticket_lock<u8>")
BACKOFF = ("ticket_lock<u16>", "exponential_ticket",
           "proportional_ticket_lock<u16>")


def fairness_line(r):
    return (f"{r['lock']:16} Jain's index {r['jain_permille'] / 1000:.3f}, "
            f"maximum consecutive acquisitions of one CPU "
            f"{r['max_consecutive']} of {r['acquisitions']}")


def fairness(tas, ticket):
    if ticket["max_consecutive"] > 2 or ticket["jain_permille"] < 990:
        yield "the ticket lock is not fair"
    if tas["max_consecutive"] < 100 or tas["jain_permille"] > 500:
        yield "test-and-set is fair here: the claim is not to be seen"


def backoff_line(r):
    return (f"{r['lock']:30} {r['per_second']:8} acquisitions per second, "
            f"median handoff {r['handoff_median']:5} ns")


def backoff(plain, exponential, proportional):
    if exponential["per_second"] * 4 > plain["per_second"]:
        yield "exponential back-off does not hurt"
    if proportional["per_second"] * 2 < plain["per_second"]:
        yield "proportional back-off hurts"


CLAIMS = {
    "fairness": (FAIRNESS, fairness_line, fairness,
                 "run=measure lock=tas_lock,ticket_lock<u8> "
                 "section=500 think=0 acquisitions=4000"),
    "backoff": (BACKOFF, backoff_line, backoff,
                "run=backoff section=500 think=0 acquisitions=4000"),
}


def main():
    args = arguments()
    locks, line_of, check, words = CLAIMS[args.claim]
    place = demo.Place(args.readme, f"claim {args.claim}")
    machine = qemu.Machine(image=args.image, cpus=CPUS, accelerator="icount",
                           append=f"mode=csv {words}", log=args.log)
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return demo.SKIPPED
    status = demo.cannot_compare(args, [args.image])
    if status:
        return status
    of_table = args.write or args.exact
    runs = [qemu.run(machine) for _ in range(1 if of_table else 2)]
    if any(run.outcome is not qemu.Outcome.PASS for run in runs):
        print("FAIL: " + "; ".join(run.message for run in runs))
        return 1
    rows = [row for lock in locks for row in plots.runs(runs[0].serial)[0].rows
            if (row["lock"], row["cpus"]) == (lock, CPUS)]
    table = list(map(line_of, rows))
    print("\n".join(table))
    wrong = list(check(*rows))
    if of_table:
        wrong += demo.settle(args, place, table)
    if runs[0].serial != runs[-1].serial:
        wrong.append("two runs differ")
    print("FAIL: " + "; ".join(wrong) if wrong else "as claimed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
