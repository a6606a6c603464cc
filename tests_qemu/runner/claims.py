#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims of the source texts, seen in the lab: reproducible, as under icount.

fairness  test-and-set lets one CPU take the lock again and again, a ticket
          lock does not
backoff   exponential back-off hurts a ticket lock, proportional does not
"""
import sys

import qemu
from output import Parser, exit_status
import plots

CPUS = 8


def arguments():
    parser = Parser(__doc__)
    parser.add_argument("claim", choices=["fairness", "backoff"],
                        help="which of the two")
    parser.add_argument("--image", required=True,
                        help="the lab's .elf")
    parser.add_argument("--log", required=True,
                        help="where the serial log goes")
    return parser.parse_args()


def fairness(report):
    tas, ticket = (plots.row(report, lock, CPUS)
                   for lock in ("tas_lock", "ticket_lock<u8>"))
    for r in (tas, ticket):
        print(f"{r['lock']:20} Jain's index {r['jain_permille'] / 1000:.3f}, "
              f"maximum consecutive acquisitions of one CPU {r['max_consecutive']} of "
              f"{r['acquisitions']}")
    if ticket["max_consecutive"] > 2 or ticket["jain_permille"] < 990:
        yield "the ticket lock is not fair"
    if tas["max_consecutive"] < 100 or tas["jain_permille"] > 500:
        yield "test-and-set is fair here: the claim is not to be seen"


def backoff(report):
    plain, exponential, proportional = (
        plots.row(report, lock, CPUS) for lock in
        ("ticket_lock<u16>", "exponential_ticket",
         "proportional_ticket_lock<u16>"))
    for r in (plain, exponential, proportional):
        print(f"{r['lock']:30} {r['per_second']:9} acquisitions per second, "
              f"handoff median {r['handoff_median']} ns")
    if exponential["per_second"] * 4 > plain["per_second"]:
        yield "exponential back-off does not hurt"
    if proportional["per_second"] * 2 < plain["per_second"]:
        yield "proportional back-off hurts"


CLAIMS = {
    "fairness": (fairness, "run=measure lock=tas_lock,ticket_lock<u8> "
                           "section=500 think=0 acquisitions=4000"),
    "backoff": (backoff, "run=backoff section=500 think=0 acquisitions=4000"),
}


def main():
    args = arguments()
    check, words = CLAIMS[args.claim]
    machine = qemu.Machine(image=args.image, cpus=CPUS, accelerator="icount",
                           append=f"mode=csv {words}", log=args.log)
    why_not = qemu.missing(machine)
    if why_not:
        print(f"skipped: {why_not}")
        return 77
    runs = [qemu.run(machine) for _ in range(2)]
    if any(run.outcome is not qemu.Outcome.PASS for run in runs):
        print(f"FAIL: {runs[0].message}; {runs[1].message}")
        return 1
    wrong = list(check(plots.parse(runs[0].serial)))
    if runs[0].serial != runs[1].serial:
        wrong.append("two runs differ")
    print("FAIL: " + "; ".join(wrong) if wrong else "as claimed, twice")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
