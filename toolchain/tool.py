# SPDX-License-Identifier: MIT
"""All tools of this tree share this: the command line, files, the end.

What a user has caused ends in one line and a status, never in a traceback. 2: a
mistake of the command line, or a file that cannot be read or written. 130:
Ctrl-C; 143, 129: SIGTERM, SIGHUP. 141: nobody reads what the tool prints any
more. A file is written beside its place and renamed when it is whole.
"""
import argparse
import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import sys


class Trouble(Exception):
    """One line for the user."""


class Stopped(KeyboardInterrupt):
    """Asked to end by a signal. lines: what the guest has printed so far."""

    def __init__(self, number=signal.SIGINT, lines=()):
        super().__init__(number)
        self.number = number
        self.lines = list(lines)


class Parser(argparse.ArgumentParser):
    """A mistake is one line, without the options that are right."""

    def __init__(self, doc, **more):
        super().__init__(
            description=doc,
            formatter_class=argparse.RawDescriptionHelpFormatter, **more)

    def print_help(self, file=None):
        """argparse's own says nothing of a disk that is full."""
        print(self.format_help(), end="", file=file)

    def error(self, message):
        raise Trouble(f"{message} (--help names the options)")


def at_least_one(text):
    """A type of options."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text}: at least one")
    return int(text)


def seconds(text):
    try:
        if float(text) > 0:
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text}: more than nothing")


def existing(text):
    if not os.path.isfile(text):
        raise argparse.ArgumentTypeError(f"{text}: no such file")
    return pathlib.Path(text)


def holding(inside):
    """A folder that holds another, without symbolic links."""
    def of(text):
        path = pathlib.Path(text).resolve()
        if not path.is_dir():
            raise argparse.ArgumentTypeError(f"{text}: no such folder")
        if not (path / inside).is_dir():
            raise argparse.ArgumentTypeError(f"{text} holds no {inside}")
        return path
    return of


folder, library, tree = map(holding, (".", "klock", "lib/klock"))


def stop(number, _frame):
    raise Stopped(number)


def in_words(error):
    """An OSError; one with a number and no file is of what is printed."""
    if error.strerror is None:
        return str(error)
    name = "standard output" if error.filename is None else error.filename
    return f"{name}: {error.strerror}"


def run(main):
    """main()'s status, when all that it has printed is written."""
    if sys.stdout is None:
        raise Trouble("standard output is closed")
    try:
        return main()
    finally:
        sys.stdout.flush()


def exit_status(main):
    """main()'s, for sys.exit()."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        return run(main)
    except KeyboardInterrupt as why:
        return 128 + getattr(why, "number", signal.SIGINT)
    except Trouble as trouble:
        why = str(trouble)
    except BrokenPipeError:
        why = None
    except OSError as error:
        why = in_words(error)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or "").strip().splitlines()
        why = (f"{error.cmd[0]}: exit status {error.returncode}"
               + "".join(f": {line}" for line in said[-1:]))
    except UnicodeDecodeError:
        why = "a file that was read is no text"
    # Python flushes once more at its end: into nothing.
    with contextlib.suppress(AttributeError, OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if why is None:
        return 128 + signal.SIGPIPE
    print(f"{os.path.basename(sys.argv[0])}: error: {why}", file=sys.stderr)
    return 2


def lock(file, path):
    """Trouble: another process writes it. It ends with the open file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), os.stat(file.name)):
            return
    except (BlockingIOError, FileNotFoundError):
        pass
    raise Trouble(f"{path}: another process writes it")


def is_device(path):
    return os.path.exists(path) and not os.path.isfile(path)


class NewFile:
    """A text file that gets its name when it is whole: by keep(), or behind a
    with statement. Until then it is PATH.part, which one process at a time
    writes. A device is written as it is."""

    def __init__(self, path):
        self.path, self.place = path, os.path.realpath(path)
        self.part = self.place if is_device(path) else f"{self.place}.part"
        self.file = None
        try:
            # "a" and not "w", as another process may be writing it.
            self.file = open(self.part, "a", encoding="utf-8", newline="")
            if self.part != self.place:
                lock(self.file, path)
                self.file.truncate(0)
        except OSError as error:
            raise self.failed(error) from None

    def __enter__(self):
        return self

    def __exit__(self, wrong, *_):
        if wrong:
            self.drop()
        else:
            self.keep()

    def failed(self, error):
        self.drop()
        return Trouble(f"{self.path}: {error.strerror}")

    def write(self, text):
        try:
            self.file.write(text)
        except OSError as error:
            raise self.failed(error) from None

    def keep(self):
        """Gives the file its name. Does nothing if it was dropped."""
        if self.file.closed:
            return
        try:
            self.file.flush()
            if self.part != self.place:
                os.replace(self.part, self.place)
            self.file.close()
        except OSError as error:
            raise self.failed(error) from None

    def drop(self):
        if self.file is None or self.file.closed:
            return
        if self.part != self.place:
            os.unlink(self.part)
        with contextlib.suppress(OSError):
            self.file.close()


def write(path, text):
    """A whole file."""
    with NewFile(path) as file:
        file.write(text)
