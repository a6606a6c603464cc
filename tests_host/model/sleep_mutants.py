# SPDX-License-Identifier: MIT
"""The headers of the locks that sleep, with every mutant in them, one at a time.

Writes copies to stand in front of lib's own, and broken.hpp, in which `broken`
says which mutant is in force: so all of them are one binary. A change that finds
its text not exactly once is an error. Run: sleep_mutants.py --lib DIR --out DIR
"""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "toolchain"))
import tool

SLEEPING, MUTEX = "klock/detail/sleeping.hpp", "klock/mutex.hpp"
QUEUE, SEMAPHORE = "klock/wait_queue.hpp", "klock/semaphore.hpp"
SHARED, PARKING = "klock/shared_mutex.hpp", "model/parking.hpp"

OPEN = "inner.unlock(); inner.lock();"

# mutant, header, the text, what it is instead. Where the text begins with "+",
# the rest of it goes on after what is new, done by the mutant alone.
MUTANTS = (
    ("parks_without_look", SLEEPING,
     "while (!woken.load_relaxed()) { if (!until) klock_os_park(); else if "
     "(!klock_os_park_until(*until)) return; }",
     "do { if (!until) klock_os_park(); else if (!klock_os_park_until(*until)) "
     "return; } while (!woken.load_relaxed());"),
    ("unpark_after_inner", SLEEPING, "klock_os_unpark(handle);",
     "later[cpu_id()].set(handle + 1);"),
    ("unpark_after_inner", SLEEPING, "irq_restore(as_it_was);",
     "if (const usize handle = later[cpu_id()].get()) { "
     "later[cpu_id()].set(0); klock_os_unpark(handle - 1); } "
     "irq_restore(as_it_was);"),
    ("unpark_before_woken", SLEEPING, "woken.store_relaxed(true);",
     "klock_os_unpark(handle); woken.store_relaxed(true); return;"),
    ("does_not_pass_inner", SLEEPING, "+before = irq_save(); lock.lock(); return",
     "if (me.is_told()) { later[cpu_id()].set(1); return true; }"),
    ("does_not_pass_inner", SLEEPING, "+const irq_state as_it_was = before;",
     "if (later[cpu_id()].get()) return later[cpu_id()].set(0);"),
    ("interrupts_on", SLEEPING, "+lock.lock(); } ~", "irq_restore(before);"),
    ("head_stays", SLEEPING, "next == &one ? nullptr : next", "next"),
    ("open_before_queue", SEMAPHORE, "+detail::sleeper me;", OPEN),
    ("handed_and_counted", SEMAPHORE, "queue.wake_first(); return true;",
     "queue.wake_first(); units.set(units.get() + 1); return true;"),
    ("no_bound", SEMAPHORE, "there >= Most", "there == ~u32{0}"),
    ("late_unit_stays", SLEEPING, "queue.remove(me);", ";"),
    ("looks_then_queues", QUEUE, "+detail::sleeper me;", OPEN),
    ("late_stays", QUEUE, "queue.remove(me);", ";"),
    ("late_loses_wake", QUEUE, "+if (ready()) return true; me.woken",
     "if (until) return false;"),
    ("wakes_one_of_all", QUEUE, "queue.wake_all();",
     "if (!queue.empty()) queue.wake_first();"),
    ("looks_outside", "klock/completion.hpp",
     "+section in(inner); if (done.get()) return true;",
     "if (done.get()) return true;"),
    ("unlocks_then_queues", "klock/condition.hpp",
     "+enqueue(me); if constexpr",
     "if constexpr (requires { held.let_go(); }) { auto *const lock = "
     "held.let_go(); enqueue(me); const bool told = sleep(me, until); "
     "held.take_back(lock); return told; }"),
    ("released_under_inner", MUTEX, "if (!first) return false;",
     "if (!first) { u8 seen = held; "
     "return word.compare_exchange_release(seen, free); }"),
    ("last_leaves_waiters", MUTEX, "queue.empty() ? held : held | waiters",
     "held | waiters"),
    ("barger_forgets", MUTEX, "word.store_relaxed(held | waiters);",
     "word.store_relaxed(held);"),
    ("grants_without_unpark", MUTEX,
     "word.store_relaxed(held_now()); first->wake();",
     "word.store_relaxed(held_now()); first->woken.store_relaxed(true);"),
    ("tells_nobody", MUTEX, "word.store_relaxed(waiters);",
     "word.store_relaxed(waiters); return true;"),
    ("no_hand_over", MUTEX, "first->in_vain.get() >= Patience", "false"),
    ("unlock_gives_up", MUTEX, "+found = held; } while",
     "found = held; return void(word.compare_exchange_release(found, free));"),
    ("one_reader_counts", SHARED, "users + (reads ? one_reader : writer)",
     "(users | (reads ? one_reader : writer))"),
    ("late_writer_admits_nobody", SHARED,
     "now_inside(may ? one_more(users, reads) : users);",
     "if (may) now_inside(one_more(users, reads)); else "
     "word.store_release(queue.empty() ? users : users | waiters);"),
    ("late_passes_nothing_on", SHARED,
     "now_inside(may ? one_more(users, reads) : users);",
     "if (may) now_inside(one_more(users, reads)); else "
     "word.store_relaxed(queue.empty() ? users : users | waiters);"),
    ("admits_one_reader", SHARED, "queue.first()->reads.get()",
     "false"),
    ("announces_relaxed", SHARED,
     "if (word.compare_exchange_acquire(now, then)) return may;",
     "if (may ? word.compare_exchange_acquire(now, then) "
     ": word.compare_exchange_relaxed(now, then)) return may;"),
    ("reader_barges_on", SHARED, "if (now != waiters) return false;",
     "if (now != waiters && (!reads || now >= writer)) return false;"),
    ("shared_barger_forgets", SHARED,
     "word.store_relaxed(one_more(now, reads));",
     "word.store_relaxed(one_more(0, reads));"),
    ("last_reader_tells_nobody", SHARED,
     "if (!users && !first->is_told()) first->wake();", ";"),
    ("no_hand_over_shared", SHARED, "first->in_vain.get() < Patience", "true"),
    ("shared_unlock_gives_up", SHARED,
     "if (!left_to_waiters(one)) leave(one);", "(void)left_to_waiters(one);"),
    ("unpark_by_store", PARKING,
     "(void)detail::threads[thread].permit.exchange_release(1);",
     "detail::threads[thread].permit.store_release(1);"),
    # No mistake: nothing finds them.
    ("tells_again", MUTEX, "!first->is_told()", "true"),
    ("late_leaves_it_free", MUTEX, "+if (is_free || !told) {",
     "if (is_free && !told) { queue.remove(me); "
     "word.store_relaxed(queue.empty() ? free : waiters); return false; }"),
)


def pattern(text):
    """The text, whatever blanks and comments stand between its words."""
    gap = r"\s*(?:/\*(?:(?!\*/).)*\*/\s*)*"
    return re.compile(gap.join(re.escape(word) for word in
                               re.findall(r"\w+|[^\w\s]", text)), re.S)


def changed(text, name, old, new):
    at = list(pattern(old.lstrip("+")).finditer(text))
    if len(at) != 1:
        raise tool.Trouble(f"{name}: the text is there {len(at)} times: {old}")
    found, its = at[0][0], f"::klock::broken == ::klock::mutant::{name}"
    if old.startswith("+"):
        both = f"if ({its}) {{ {new} }}\n{found}"
    elif old.endswith((";", "}")):
        both = f"if ({its}) {{ {new} }} else {{ {found} }}"
    else:
        both = f"({its} ? {new} : {found})"
    return text[:at[0].start()] + both + text[at[0].end():]


def main():
    args = tool.Parser(__doc__)
    args.add_argument("--lib", type=tool.library, required=True)
    args.add_argument("--out", type=pathlib.Path, required=True)
    args = args.parse_args()
    texts, sources = {}, set()
    for name, header, old, new in MUTANTS:
        folder = "model/include/" if header == PARKING else ""
        path = args.lib / (folder + header)
        text = texts.get(header) or path.read_text()
        sources.add(str(path))
        texts[header] = changed(text, name, old, new)
    args.out.mkdir(parents=True, exist_ok=True)
    names = ", ".join(dict.fromkeys(name for name, *_ in MUTANTS))
    tool.write(
        args.out / "made_of.d",
        f"{args.out}/klock/broken.hpp: {' '.join(sorted(sources))}\n")
    texts["klock/broken.hpp"] = f"""#pragma once
#include <klock/plain.hpp>
namespace klock {{
enum class mutant {{ none, {names} }};
inline constinit mutant broken = mutant::none;
inline constinit plain<usize> later[4];
}}
"""
    for header, text in texts.items():
        out = args.out / header
        out.parent.mkdir(parents=True, exist_ok=True)
        tool.write(out, text.replace("#pragma once\n", "#pragma once\n"
                                     "#include <klock/broken.hpp>\n", 1))


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
