#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every option of every script here says by --help what it does."""
import argparse
import importlib
import sys

SCRIPTS = ["run", "busted", "claims", "columns", "demo", "gdb", "iso", "menu",
           "machines", "pcs", "plots", "screen", "soak", "stick",
           "stopped"]


class Parsed(Exception):
    """Instead of reading the command line: the parser that would have."""


def instead_of_parsing(parser, *_):
    raise Parsed(parser)


def parser_of(name):
    script = importlib.import_module(name)
    try:
        getattr(script, "arguments", script.main)()
    except Parsed as parsed:
        return parsed.args[0]
    raise RuntimeError(f"{name}.py reads no options")


def without_help(parser):
    for action in parser._actions:
        if not action.help:
            yield (action.option_strings or [action.dest])[0]


def main():
    argparse.ArgumentParser.parse_args = instead_of_parsing
    wrong = [f"{name}.py {option}: no help" for name in SCRIPTS
             for option in without_help(parser_of(name))]
    print("\n".join(wrong) or f"{len(SCRIPTS)} scripts: all options have help")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
