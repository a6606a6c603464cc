# SPDX-License-Identifier: MIT
"""Pages of the screen that time turns, round and round, until a key does; the
last one is the lab's summary.

A page that is only half drawn is none of the right ones: whatever the host's
load, it is looked at again.
"""
import time

from ends import Trouble

LOOKS = 3000            # a tenth of a second each: more than any right run needs
SUMMARY = "klock lab: "


def all_pages(printed, rows):
    """As turning shows them, from the first: each begins with the last line of
    the one before; the newest ends with the line that would be next."""
    lines = printed + [""]
    newest = max(len(lines) - rows, 0)
    tops = [*range(0, newest, rows - 1), newest]
    return [(lines[top:top + rows] + rows * [""])[:rows] for top in tops]


def is_summary(page, raw):
    """Whether it says all that it must: the machine, each lock, the verdict."""
    machine = next(line.partition(": ")[2] for line in raw
                   if line.startswith("# machine: "))
    head = next(i for i, line in enumerate(raw) if line.startswith("lock "))
    verdict = next(i for i, line in enumerate(raw)
                   if line.startswith(("PASS", "FAIL")))
    locks = {line.split()[0].replace("_lock", "")
             for line in raw[head + 1:verdict] if not line.startswith(" ")}
    text = "".join(row.ljust(80) for row in page)
    written = [row for row in page if row]
    return (page[0].startswith(SUMMARY) and machine in text
            and locks <= set(text.split())
            and written[-1] == raw[verdict])


def until(monitor, folder, is_right):
    """The first screen that is right."""
    for _ in range(LOOKS):
        page = monitor.screen(folder)
        if is_right(page):
            return page
        time.sleep(0.1)
    raise Trouble("the screen shows, and turns no more:\n" + "\n".join(page))


def by_time(monitor, folder, raw, expected):
    """Waits for each of the pages, the summary among them; returns it."""
    summary, missing = [], list(expected)

    def is_last(page):
        if page in missing:
            missing.remove(page)
        if is_summary(page, raw):
            summary[:] = page
        return not missing and summary

    until(monitor, folder, is_last)
    return summary


def by_keys(monitor, folder, wanted, key):
    """Presses it until the page is there."""
    for _ in range(LOOKS // 50):
        if monitor.screen(folder) == wanted:
            return
        monitor.press(key, folder)
    raise Trouble(f"{key} does not turn to the page:\n" + "\n".join(wanted))


def watch(monitor, folder, raw, printed):
    """raw: the lines as they were printed; printed: as the screen breaks them.
    Afterwards the newest page is there, and stays."""
    expected = all_pages(printed, len(monitor.screen(folder)))
    summary = by_time(monitor, folder, raw, expected)
    monitor.press("pgdn", folder)       # ends what time does
    by_keys(monitor, folder, summary, "pgdn")
    by_keys(monitor, folder, expected[-1], "pgup")
