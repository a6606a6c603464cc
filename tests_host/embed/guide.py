#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does what a guide says, as a reader would, and nothing else.

A guide is Markdown. A recipe is followed in an empty folder that holds a clone
named klock, by what a reader sees:

  an sh block              is run
  a block below `PATH`:    the line above it ends so: it is written to PATH
  below In `PATH`, below `TEXT`:     it is put behind PATH's line with TEXT
  a block of no language, or text, behind an sh block is what that one prints

What a reader does not see are comments, which say which blocks are one recipe,
and no more:

  <!-- test: NAME -->         from here to the next heading
  <!-- test: NAME after OTHER -->     ... in OTHER's folder, as it was left
  <!-- goes on: NAME -->      that recipe goes on here, under another heading
  <!-- needs: PROGRAM -->     the recipe is skipped where PROGRAM is missing
  <!-- excerpt: PATH -->      the block stands in PATH, a file of this tree
  <!-- not run: REASON -->    the sh block is not run

An sh block outside of a recipe that is not so marked is an error: nothing in a
guide goes untested. So is a comment of another kind, which would hide a step,
and a command in a block that is not sh, or in indented lines. What is not run
must name presets, targets, tests and options that there are (commands.py).

  guide.py --root TOP [--build DIR] --check GUIDE...
                            marks, excerpts, links and commands are right
  guide.py --root TOP --run NAME --work DIR GUIDE
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolchain"))
import commands
import tool

SKIPPED = 77
LIMIT = 1500  # seconds: for what hangs; one block takes a busy machine minutes

_LINE = re.compile(
    r"^<!-- (?P<mark>[\w ]+)(?:: (?P<text>[^\n]*?))? -->$"
    r"|^(?P<heading>#+) (?P<title>[^\n]*)$"
    r"|^```(?P<language>\w*)[^\n]*\n(?P<block>.*?)^```$", re.M | re.S)
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)")
_ADDS = re.compile(r"In `([^`\s]+)`, below (`+) ?(.+?) ?\2:$")
_FILE = re.compile(r"`([\w./-]+)`:$")
_INDENTED = re.compile(r"^(?:\t| {4})(.*)$", re.M)
_WRITTEN = re.compile("begin|end|tests_host/")      # by a script


class Step(NamedTuple):
    line: int
    kind: str      # sh, prints, file, adds, excerpt, needs, not run, code
    text: str      # the mark's
    block: str


class Start(NamedTuple):
    after: str = ""     # the recipe in whose folder it goes on


class Wrong(Exception):
    """The guide says something that is not so."""


def start_of(text):
    name, _, other = text.partition(" after ")
    if " " in name + other:
        raise Wrong(f"'test: {text}' hides a step")
    return name, Start(other)


def step_of(line, language, block, said, ran):
    """The block under a line of text: what a reader takes it for."""
    if language == "sh":
        return Step(line, "sh", "", block)
    if adds := _ADDS.search(said):
        return Step(line, "adds", f"{adds[1]} after {adds[3]}", block)
    if file := _FILE.search(said):
        return Step(line, "file", file[1], block)
    printed = ran and language in ("", "text")
    return Step(line, "prints" if printed else "code", "", block)


def steps_of(text):
    """{recipe: (the recipe that it comes after, its steps)}; None: outside."""
    recipes = {None: (Start(), [])}
    name, mark, above = None, None, 0
    for match in _LINE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        steps = recipes[name][1]
        if match["heading"]:
            name = None
        elif match["mark"] == "test":
            name, start = start_of(match["text"])
            if name in recipes:
                raise Wrong(f"line {line}: a second recipe '{name}'")
            if start.after and start.after not in recipes:
                raise Wrong(f"line {line}: no recipe '{start.after}' to come "
                            "after")
            recipes[name] = (start, [])
        elif match["mark"] == "goes on":
            name = match["text"]
            if name not in recipes:
                raise Wrong(f"line {line}: no recipe '{name}' to go on with")
        elif match["mark"] == "needs":
            steps.append(Step(line, "needs", match["text"], ""))
        elif match["mark"] in ("excerpt", "not run"):
            mark = (match["mark"], match["text"] or "")
        elif match["mark"]:
            if not _WRITTEN.match(match["text"] or ""):
                raise Wrong(f"line {line}: '{match['mark']}' hides a step")
        else:
            said = [x.strip() for x in text[above:match.start()].splitlines()
                    if x.strip() and not x.startswith("<!--")]
            step = step_of(line, match["language"], match["block"],
                           said[-1] if said else "",
                           steps and steps[-1].kind == "sh")
            steps.append(step._replace(kind=mark[0], text=mark[1])
                         if mark else step)
            mark = None
        if not match["mark"]:
            above = match.end()
    return recipes


# -- Following a recipe --------------------------------------------------------

def clone(root, folder):
    """This tree as git would give it: nothing that was built."""
    def left_out(path, names):
        return [name for name in names
                if name in (".git", "build", "__pycache__", "shared", "seeds")
                or (Path(path) / name / "CMakeCache.txt").is_file()]
    shutil.copytree(root, folder, symlinks=True, ignore=left_out)


def environment():
    """A reader's: nothing of the build that runs this test."""
    inherited = ("PATH", "HOME", "LANG", "TMPDIR", "CCACHE_DIR")
    return {name: os.environ[name] for name in inherited if name in os.environ}


def run_block(step, work):
    print(f"$ {step.block.strip()}", flush=True)
    done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", step.block],
                          cwd=work, env=environment(), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT)
    print(done.stdout, flush=True)
    if done.returncode:
        raise Wrong(f"line {step.line}: status {done.returncode}")
    return done.stdout


def edit(step, work):
    """Writes a file, or puts lines into one."""
    if step.kind == "file":
        path = work / step.text
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.block)
        return
    name, _, after = step.text.partition(" after ")
    lines = (work / name).read_text().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if after in line]
    if not places:
        raise Wrong(f"line {step.line}: no line of {name} holds '{after}'")
    lines.insert(places[-1] + 1, step.block)
    (work / name).write_text("".join(lines))


def follow(steps, work):
    printed = ""
    for step in steps:
        if step.kind == "sh":
            printed = run_block(step, work)
        elif step.kind in ("file", "adds"):
            edit(step, work)
        elif step.kind == "prints":
            for line in step.block.splitlines():
                if line.strip() not in printed:
                    raise Wrong(f"line {step.line}: not printed: {line}")


def run(root, guide, name, work):
    recipes = steps_of(guide.read_text())
    if name not in recipes:
        raise Wrong(f"{guide}: no recipe {name}")
    start, steps = recipes[name]
    for step in steps:
        if step.kind == "needs" and not shutil.which(step.text):
            print(f"skipped: {step.text} not found")
            return SKIPPED
    if start.after:
        work = work.parent / start.after
        if not work.is_dir():
            raise Wrong(f"{name} comes after {start.after}, which was not run")
        follow(steps, work)
        return 0
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    clone(root, work / "klock")
    follow(steps, work)
    return 0


# -- Looking at a guide --------------------------------------------------------

def links(text):
    """(file, anchor) of each link that leads to no other site."""
    return _LINK.findall(_CODE.sub("", text))


def anchors(text):
    """As GitHub makes them of headings."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ +(.*)$", text, re.M)}


def wrong_commands(tree, text):
    """Yields the line and what is wrong with a command that nothing runs."""
    for _, steps in steps_of(text).values():
        for step in steps:
            if step.kind in ("code", "prints") and any(
                    commands.BEGINS.match(line)
                    for line in step.block.splitlines()):
                yield step.line, ("commands in a block that is not sh: nothing "
                                  "runs them")
            if step.kind == "not run":
                for line in commands.lines_of(step.block):
                    for fault in commands.faults(tree, line):
                        yield step.line, fault
    outside = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"),
                     text, flags=re.M | re.S)
    for match in _INDENTED.finditer(outside):
        if commands.BEGINS.match(match[1]):
            yield (outside.count("\n", 0, match.start()) + 1,
                   "a command in indented lines: nothing runs it")
    for line in commands.in_text(text):
        for fault in commands.faults(tree, line):
            yield text.count("\n", 0, text.index(f"`{line}`")) + 1, fault


def check(root, guide, tree):
    """Returns the faults of a guide that show before anything is run."""
    text = guide.read_text()
    name = guide.relative_to(root)
    for line, fault in wrong_commands(tree, text):
        yield f"{name}:{line}: {fault}"
    for recipe, (_, steps) in steps_of(text).items():
        for step in steps:
            if recipe is None and step.kind == "sh":
                yield (f"{name}:{step.line}: an sh block in no recipe: put it "
                       "into one, or say '<!-- not run: why -->'")
            if step.kind == "excerpt":
                path = root / step.text
                if not path.is_file() or step.block not in path.read_text():
                    yield (f"{name}:{step.line}: this does not stand in "
                           f"{step.text}")
    for to, anchor in links(text):
        file = guide.parent / to if to else guide
        if not file.exists():
            yield f"{name}: a link to {to}, which is not there"
        elif anchor and file.suffix == ".md" and \
                anchor not in anchors(file.read_text()):
            yield f"{name}: no heading for {to}#{anchor}"


def arguments():
    parser = tool.Parser(__doc__)
    parser.add_argument("--root", type=tool.folder, required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", type=tool.folder)
    parser.add_argument("--run", metavar="NAME")
    parser.add_argument("--work", type=Path)
    parser.add_argument("guides", type=Path, nargs="+")
    args = parser.parse_args()
    if args.run and not args.work:
        parser.error("--run: --work is missing")
    return args


def main():
    args = arguments()
    root = args.root
    guides = [(root / guide).resolve() for guide in args.guides]
    try:
        if args.run:
            return run(root, guides[0], args.run, args.work.resolve())
        tree = commands.Tree(root, args.build)
        found = [text for guide in guides for text in check(root, guide, tree)]
    except Wrong as wrong:
        found = [str(wrong)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(tool.exit_status(main))
