# SPDX-License-Identifier: MIT
"""How a script of this folder ends: never by a traceback that its user caused.

2: a mistake of the command line, one line says which. 130: Ctrl-C; 143, 129:
SIGTERM, SIGHUP. 141: nobody reads what it prints any more.
"""
import os
import signal
import sys


class Trouble(Exception):
    """One line for the user."""


class Stopped(KeyboardInterrupt):
    """Asked to end by a signal. lines: what the guest has printed so far."""

    def __init__(self, number=signal.SIGINT, lines=()):
        super().__init__(number)
        self.number = number
        self.lines = list(lines)


def stop(number, _frame):
    raise Stopped(number)


def exit_status(main):
    """main()'s, for sys.exit()."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        status = main()
        sys.stdout.flush()
        return status
    except Trouble as trouble:
        print(f"{os.path.basename(sys.argv[0])}: error: {trouble}",
              file=sys.stderr)
        return 2
    except KeyboardInterrupt as why:
        return 128 + getattr(why, "number", signal.SIGINT)
    except BrokenPipeError:
        # Python flushes once more at its end: into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
