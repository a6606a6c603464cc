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
INHERITING, LENDING = "klock/inheriting_mutex.hpp", "klock/detail/lending.hpp"
COMPLETION, CONDITION = "klock/completion.hpp", "klock/condition.hpp"

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
    ("open_before_queue", COMPLETION, "+detail::sleeper me;", OPEN),
    ("handed_and_counted", SEMAPHORE, "in.wake_first(queue);",
     "in.wake_first(queue); word.store_relaxed(1); return true;"),
    ("no_bound", SEMAPHORE, "+return (now < Most",
     "if (now < Most + 1 && word.compare_exchange_release(now, now + 1)) "
     "return true;"),
    ("announced_by_store", SEMAPHORE,
     "word.compare_exchange_relaxed(now, awaited)",
     "(word.store_relaxed(awaited), true)"),
    ("unit_released_inside", SEMAPHORE, "if (queue.empty()) return false;",
     "if (queue.empty()) return release();"),
    ("late_unit_stays", SLEEPING, "queue.remove(me);", ";"),
    ("looks_then_queues", QUEUE, "+detail::sleeper me;", OPEN),
    ("late_stays", SLEEPING, "+queue.remove(one); }", "return;"),
    ("late_loses_wake", QUEUE, "+const bool is_ready",
     "if (until && told) return false;"),
    ("wakes_one_of_all", QUEUE, "!one.is_told()",
     "&one == queue.first()"),
    ("wakes_the_told", QUEUE, "queue.first_asleep()", "queue.first()"),
    ("in_vain_to_the_back", QUEUE, "me.woken.store_relaxed(false);",
     "me.woken.store_relaxed(false); queue.remove(me); "
     "queue.push_back(me);"),
    ("seen_inside", COMPLETION, "look() == done", "look() >= done"),
    ("looks_inside", COMPLETION, "now == set_inside", "false"),
    ("done_inside", COMPLETION, "state.store_relaxed(set_inside);",
     "state.store_release(done);"),
    ("set_wakes_nobody", COMPLETION, "in.wake_all(queue);", ";"),
    ("waits_unseen", CONDITION, "waited_for.store_relaxed(true);", ";"),
    ("notified_forgets", CONDITION, "if (!all) break;",
     "if (!all) return waited_for.store_relaxed(false);"),
    ("late_forgets", CONDITION,
     "queue.remove(me); waited_for.store_relaxed(!queue.empty());",
     "queue.remove(me); waited_for.store_relaxed(false);"),
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
    ("told_taker_forgets", MUTEX,
     "queue.remove(me); word.store_relaxed(held_now()); return true;",
     "queue.remove(me); return true;"),
    ("told_for_ever", MUTEX, "told.store_relaxed(false);", ";"),
    ("comes_in_vain_unseen", MUTEX,
     "+if (took_or_announced()) {",
     "if (is_locked()) continue;"),
    ("late_leaves_told", MUTEX, "+told.store_relaxed(false);",
     "if (until && is_locked()) { queue.remove(me); return false; }"),
    ("tells_with_the_flag", MUTEX, "word.store_release(free);",
     "word.store_release(waiters);"),
    ("tells_the_second", MUTEX, "in.wake(*first); return true;",
     "queue.for_each([&](detail::sleeper &one) { in.wake(one); }); "
     "return true;"),
    ("hand_over_forgets", MUTEX,
     "queue.remove(*first); word.store_relaxed(held_now());",
     "queue.remove(*first); word.store_relaxed(held);"),
    ("grants_without_unpark", MUTEX, "+in.wake(*first);",
     "if (!first->is_queued()) "
     "return first->woken.store_relaxed(true), true;"),
    ("tells_nobody", MUTEX, "+word.store_release(free);",
     "return word.store_release(free), true;"),
    ("no_hand_over", MUTEX, "first->in_vain.get() >= Patience", "false"),
    ("unlock_gives_up", MUTEX, "+found = held; } while",
     "found = held; return void(word.compare_exchange_release(found, free));"),
    ("one_reader_counts", SHARED, "users + (reads ? one_reader : writer)",
     "(users | (reads ? one_reader : writer))"),
    ("late_writer_admits_nobody", SHARED, "now_inside(in, now - waiters);",
     "word.store_release(queue.empty() ? now - waiters : now);"),
    ("late_passes_nothing_on", SHARED, "now_inside(in, now - waiters);",
     "word.store_relaxed(queue.empty() ? now - waiters : now);"),
    ("late_holds_without_flag", MUTEX, "+if (word.load_relaxed() & waiters)",
     "if (!(word.load_relaxed() & waiters)) word.store_relaxed(held_now());"),
    ("late_writes_without_flag", SHARED,
     "+if (now & waiters)", "if (!(now & waiters)) now_inside(in, now);"),
    ("admits_one_reader", SHARED, "queue.first()->reads.get()",
     "false"),
    ("announces_relaxed", SHARED,
     "if (word.compare_exchange_acquire(now, then)) return may;",
     "if (may ? word.compare_exchange_acquire(now, then) "
     ": word.compare_exchange_relaxed(now, then)) return may;"),
    ("reader_barges_on", SHARED, "+return false; } void give_up",
     "while (reads && now < writer) "
     "if (word.compare_exchange_acquire(now, now + one_reader)) return true;"),
    ("shared_told_for_ever", SHARED,
     "me.woken.store_relaxed(false); told.store_relaxed(false);",
     "me.woken.store_relaxed(false);"),
    ("shared_comes_unseen", SHARED, "word.fetch_or_acquire(waiters)",
     "word.load_acquire()"),
    ("last_reader_tells_nobody", SHARED, "in.wake(*first);", ";"),
    ("no_hand_over_shared", SHARED, "first->in_vain.get() < Patience", "true"),
    ("shared_unlock_gives_up", SHARED,
     "if (!left_to_waiters(one)) leave(one);", "(void)left_to_waiters(one);"),
    ("loan_stays_at_unlock", LENDING, "before.settle();", ";"),
    ("loan_is_all_given_back", LENDING, "before.settle();",
     "before.lent.set(before.base.get()); "
     "klock_os_run_with_priority(&before, before.lent.get());"),
    ("one_loan_of_two", LENDING, "at = at->next_wanted.get()", "at = nullptr"),
    ("late_loan_stays", LENDING, "+owner().settle(); } template", "return;"),
    ("chain_of_one_link", LENDING, "return &awaited->owner();",
     "return nullptr;"),
    ("waiter_is_not_moved", LENDING, "awaited->move(*waits.get());", ";"),
    ("by_arrival", LENDING,
     "return static_cast<const lender &>(other).by.get()->lent.get() < its;",
     "return (void)other, false;"),
    ("last_among_equals_first", LENDING,
     "return static_cast<const lender &>(other).by.get()->lent.get() < its;",
     "return static_cast<const lender &>(other).by.get()->lent.get() <= its;"),
    ("kernel_is_not_told", LENDING, "klock_os_run_with_priority(at, now);",
     ";"),
    ("late_in_the_list", LENDING,
     "if (queue.empty()) owner().drop_wanted(*this);", ";"),
    ("next_without_the_list", LENDING, "next.add_wanted(*this);", ";"),
    ("handed_without_the_flag", LENDING, "flags |= waiters;", ";"),
    ("handed_and_waits", LENDING, "next.waits.set(nullptr);", ";"),
    ("owner_stays", LENDING, "word.store_relaxed(mark_of(next) | flags);",
     "word.store_relaxed(mark_of(before) | flags);"),
    ("next_is_not_woken", LENDING, "in.wake(one);", ";"),
    ("marks_by_store", INHERITING,
     "word.compare_exchange_acquire(now, now | waiters)",
     "(word.store_relaxed(now | waiters), true)"),
    ("unlocks_past_waiters", INHERITING, "queue.empty()", "true"),
    ("late_unmarks", INHERITING, "leave(node);",
     "leave(node); if (queue.empty()) "
     "word.store_relaxed(word.load_relaxed() & ~waiters);"),
    ("waits_in_a_ring", INHERITING, "return wait_result::deadlock;",
     "return wait_result::had;"),
    ("change_is_not_lent", INHERITING, "thread.settle();", ";"),
    ("death_is_not_told", INHERITING,
     "held.pass_on(in, detail::lendable::died);", "held.pass_on(in, 0);"),
    ("dead_owner_stays", INHERITING, "thread.ended.set(hands_over);", ";"),
    ("unpark_by_store", PARKING,
     "(void)detail::threads[thread].permit.exchange_release(1);",
     "detail::threads[thread].permit.store_release(1);"),
    # No mistake: nothing finds them.
    ("tells_again", MUTEX, "now & waiters || told.load_relaxed()",
     "now & waiters"),
    ("barger_clears_told", MUTEX, "if (took_or_announced()) return true;",
     "if (took_or_announced()) return told.store_relaxed(false), true;"),
    ("late_clears_told", MUTEX, "+if (word.load_relaxed() & waiters)",
     "told.store_relaxed(false);"),
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
        # In braces: it may be what another `if` decides.
        both = f"{{ if ({its}) {{ {new} }} else {{ {found} }} }}"
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
