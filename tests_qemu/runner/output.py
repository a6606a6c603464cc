# SPDX-License-Identifier: MIT
"""What the guest prints, line by line as it comes: for the log, for a terminal
or a pipe, for a CSV file.

A line that the guest has written over (carriage return: "mcs_lock ..." while
mcs_lock runs) is kept in its last form. Only a terminal gets the bytes as they
are.
"""
import contextlib

from ends import Trouble


def open_file(path, option):
    """A text file that gets each line at once."""
    try:
        return open(path, "w", buffering=1, encoding="utf-8")
    except OSError as error:
        raise Trouble(f"{option} {path}: {error.strerror}") from None


def last_form(raw):
    """A line's last form, without its end."""
    text = raw.decode("utf-8", "replace").rstrip("\r")
    return text.rpartition("\r")[2]


class CsvFile:
    """The rows of mode=csv as a file that other programs read: the names of
    the columns, then the rows; not what the guest prints beside them."""

    def __init__(self, path):
        self.path = path
        self.file = open_file(path, "--csv")
        self.rows = 0

    def take(self, line):
        kind, _, rest = line.partition(",")
        if kind in ("head", "row"):
            self.file.write(rest + "\n")
            self.rows += kind == "row"


class Output:
    """Files are opened before QEMU is started: a bad path is found first."""

    def __init__(self, log="", csv="", echo=None):
        self.lines = []
        self.rest = b""
        self.echo = echo
        self.raw = echo is not None and echo.isatty()
        with contextlib.ExitStack() as opened:
            self.log = self.csv = None
            if log:
                self.log = open_file(log, "--log")
                opened.callback(self.log.close)
            if csv:
                self.csv = CsvFile(csv)
                opened.callback(self.csv.file.close)
            self.close = opened.pop_all().close

    def take(self, chunk):
        """Returns the lines that are whole now."""
        if self.raw:
            self.show(chunk)
        *whole, self.rest = (self.rest + chunk).split(b"\n")
        new = [last_form(raw) for raw in whole]
        for line in new:
            self.keep(line)
        return new

    def keep(self, line):
        self.lines.append(line)
        try:
            if self.log:
                self.log.write(line + "\n")
            if self.csv:
                self.csv.take(line)
        except OSError as error:
            raise Trouble(f"log or CSV file: {error.strerror}") from None
        if self.echo and not self.raw:
            self.show(f"{line}\n".encode())

    def remark(self, text):
        """A line of the runner's own: for the reader, not of the guest."""
        if self.log:
            self.log.write(f"# {text}\n")
        if self.echo:   # over what the guest shows while it works
            self.show((b"\r" if self.raw else b"") + f"# {text}\n".encode())

    def show(self, chunk):
        self.echo.write(chunk)
        self.echo.flush()

    def end(self):
        """The guest has ended, perhaps within a line."""
        if self.rest:
            self.keep(last_form(self.rest))
            self.rest = b""
            if self.raw:
                self.show(b"\r\n")

    def serial(self):
        return "".join(line + "\n" for line in self.lines)
