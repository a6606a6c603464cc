#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies a font, unpacked if it is packed by gzip."""
import gzip
import pathlib
import sys


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    data = source.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    target.write_bytes(data)


if __name__ == "__main__":
    main()
