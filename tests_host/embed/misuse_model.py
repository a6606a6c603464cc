#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the model checker's std::atomic and var take, silently, and what they
refuse; each with its message."""
import cases
import lines
from lines import Wrong

DECLARED = """
#include <atomic>
#include <stdatomic.h>
#include <model/var.hpp>
struct large { long a, b; };
struct owner { owner(); owner(const owner &); ~owner(); int it; };
struct point { short x, y; };
enum class colour : char { red };
std::atomic<int> x;
std::atomic<bool> b;
std::atomic<colour> c;
std::atomic<point> p;
std::atomic<int *> q;
std::atomic<double> d;
std::atomic_flag f = ATOMIC_FLAG_INIT;
model::var<point> v;
int raw;

void user()
{
	LINE
}
"""

TAKES = ("klock::model: std::atomic<T> takes a T that is trivially copyable "
         "and has at most 8 bytes")

ERRORS = [
    Wrong("std::atomic<large> y;", TAKES),
    Wrong("large l{}; std::atomic_ref y(l);",
          TAKES.replace("atomic<T>", "atomic_ref<T>")),
    Wrong("(void)sizeof(model::var<owner>);",
          "klock::model: var<T> takes a T that is trivially copyable"),
]

# All in one: each would cost a compiler's start.
RIGHT = [
    "x = 1; x += 2; (void)x++; int now = x; x = now; if (x == 3 && x > 1) x--;"
    " (void)x.load(std::memory_order_acquire); x.wait(1); x.notify_one();"
    " int e = 0; (void)x.compare_exchange_weak(e, 1, std::memory_order_acq_rel, "
    "std::memory_order_relaxed);"
    " b = true; if (b) c = colour::red; p = point{1, 2}; q = &raw; ++q; d += 1;"
    " if (!f.test_and_set()) f.clear();"
    " std::atomic_ref r(raw); r++; r.store(2); (void)atomic_load(&x);"
    " v = point{1, 2}; point here = v; (void)here;"
]


def _with_the_checker(case):
    lib = case.root / "lib"
    case.includes = lambda port: [
        "-I", lib / "model_std/include", "-I", lib / "model/include", "-I", lib,
        "-I", lib / "arch/hooked"]


def right_ones_are_silent(case):
    _with_the_checker(case)
    lines.right_ones_are_silent(case, DECLARED, RIGHT)


def some_are_errors(case):
    _with_the_checker(case)
    lines.some_are_errors(case, DECLARED, ERRORS)


CASES = [right_ones_are_silent, some_are_errors]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
