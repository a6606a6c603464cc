# SPDX-License-Identifier: MIT
"""Whether the commands that a document names would find what they name.

guide.py runs recipes. What it does not run, a block with a reason or a command
in a sentence, is looked up: presets, targets of the build tree, labels and names
of its tests, scripts and their options.
"""
import json
import re
import shlex
import subprocess
import sys

# A line of a block that is a command begins so.
BEGINS = re.compile(r"(?:\$ )?(?:ctest|cmake|ninja|make|meson|python3|g\+\+|gcc"
                    r"|clang(?:\+\+)?|qemu-system-\w+|\./[\w./]+|sudo|git"
                    r"|apt-get) [^=]")
# A document calls the build tree of the presets so.
BUILDS = ("build/default", "<dir>", "BUILD")
# The reader puts in another word.
PLACEHOLDERS = ("LABEL", "label", "^NAME$")


class Tree:
    """The names of the sources, and of a build tree if there is one."""

    def __init__(self, root, build):
        self.root, self.build, self.helps = root, build, {}
        text = (root / "CMakePresets.json").read_text() \
            if (root / "CMakePresets.json").is_file() else "{}"
        self.presets = {kind: {one["name"] for one in of}
                        for kind, of in json.loads(text).items()
                        if kind.endswith("Presets")}
        if build:
            self.tests = json.loads(subprocess.run(
                ["ctest", "--show-only=json-v1"], cwd=build, check=True,
                text=True, capture_output=True).stdout)["tests"]
            self.targets = {*re.findall(r"^build ([\w.+-]+):", (
                build / "build.ninja").read_text(), re.M)}

    def has_test(self, labels, names):
        def of(test):
            return next((one["value"] for one in test.get("properties", [])
                         if one["name"] == "LABELS"), [])
        return any(all(any(re.search(want, label) for label in of(test))
                       for want in labels) and
                   all(re.search(name, test["name"]) for name in names)
                   for test in self.tests)

    def help_of(self, script):
        if script not in self.helps:
            python = [sys.executable, "-B"] if script.endswith(".py") else []
            self.helps[script] = subprocess.run(
                [*python, self.root / script, "--help"], text=True, check=False,
                capture_output=True).stdout
        return self.helps[script]


def _values(words, *options):
    """Returns the word behind each of the options."""
    return [value for option, value in zip(words, words[1:])
            if option in options]


def _preset(tree, kind, words):
    for name in _values(words, "--preset"):
        if name not in tree.presets.get(f"{kind}Presets", ()):
            yield f"no {kind} preset {name}"


def _cmake(tree, words):
    kind = ("workflow" if "--workflow" in words else
            "build" if "--build" in words else "configure")
    yield from _preset(tree, kind, words)
    if tree.build and set(_values(words, "--build")) & set(BUILDS):
        for target in _values(words, "--target"):
            if target not in tree.targets:
                yield f"no target {target}"


def _ctest(tree, words):
    yield from _preset(tree, "test", words)
    of = _values(words, "--test-dir")
    labels, names = _values(words, "-L"), _values(words, "-R")
    if (tree.build and (not of or of[0] in BUILDS) and
            not {*labels, *names} & {*PLACEHOLDERS} and
            not tree.has_test(labels, names)):
        yield f"no test of labels {labels}, names {names}"


def _ninja(tree, words):
    if tree.build and set(_values(words, "-C")) & set(BUILDS):
        for target in words[words.index("-C") + 2:]:
            if target not in tree.targets:
                yield f"no target {target}"


def _script(tree, words):
    script = words[0].removeprefix("./")
    if not (tree.root / script).is_file():
        yield f"no script {script}"
        return
    for word in words[1:]:
        option = word.split("=")[0]
        if option.startswith("--") and not re.search(
                rf"(?<![\w-]){re.escape(option)}(?![\w-])",
                tree.help_of(script)):
            yield f"{script} has no option {option}"


def faults(tree, line):
    """Yields what the commands of a line name and is not there."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return
    command = []
    for word in [*words, ";"]:
        if word not in ("&&", "||", "|", ";"):
            command.append(word)
            continue
        while command and re.match(r"\$$|sudo$|[A-Z_]+=", command[0]):
            command.pop(0)
        if command[:1] == ["python3"]:
            command = [one for one in command[1:] if one != "-B"]
        by = {"cmake": _cmake, "ctest": _ctest, "ninja": _ninja}.get(
            command[0] if command else "")
        if not by and command and re.match(
                r"(\./)?(toolchain/\w+|(tests_host|tests_qemu)/[\w/]+\.py)",
                command[0]):
            by = _script
        yield from by(tree, command) if by else ()
        command = []


def lines_of(block):
    """Returns a block's lines, joined where a backslash divides them."""
    return re.sub(r"\\\n\s*", "", block).splitlines()


def in_text(text):
    """Commands between backquotes, outside of blocks."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.findall(r"`((?:ctest|cmake|ninja|python3|\./toolchain"
                      r"|toolchain|tests_\w+)[/ ][^`]+)`", text)
