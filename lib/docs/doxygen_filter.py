#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Doxygen's input filter: our plain comments, as it wants them.

A comment before a declaration documents it, and the declarations that follow
without an empty line; a comment behind one documents that one. The top comment
of a header is its file's page, as it stands; its first line documents the type
that the header is named after. Some names mean the same wherever
they stand and are explained here, once: the verbs of all locks, operations
that say in their names what they do and in which memory order.

Nothing but comments is added, so that lines keep their numbers. A guide (.md)
keeps its links to other guides; what else it links to is outside of the
reference, and becomes text. Run: doxygen_filter.py FILE
"""
import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What the reference holds of the guides: Doxyfile.in's INPUT.
GUIDES = [ROOT / name for name in (
    "README.md", "lib/README.md", "lib/arch/CONTRACT.md",
    "lib/model/README.md", "lib/sim/README.md")]
GUIDES += (ROOT / "lib/docs").glob("*.md")

# pattern of a name    what it means, wherever it stands
KNOWN = [
    (r"lock", "Waits until the caller is the holder."),
    (r"try_lock", "Takes the lock if it is free; never waits."),
    (r"unlock", "The holder's alone."),
    (r"lock_shared", "Waits until the caller reads, perhaps with others."),
    (r"try_lock_shared", "Takes the lock to read if it can; never waits."),
    (r"unlock_shared", "A reader's alone."),
    (r"max_readers", "Contexts that may read or wait to read at once."),
    (r"readers_contend", "Whether readers and writers have one capacity."),
    (r"is_locked", "Whether somebody holds it: a hint, stale on arrival."),
    (r"is_contended", "Whether somebody waits: a hint, stale on arrival."),
    (r"max_contenders", "Contexts that may hold or wait at once."),
    (r"node", "What an acquisition is lent."),
    (r"node_may_live_on_stack", "Whether a node may die after unlock()."),
    (r"\w+_(relaxed|acquire|release|acq_rel|seq_cst)",
     "The operation, and the memory order, that the name says."),
    (r"get|set", "What the holder, or the owner, alone may call."),
    (r"first|second", "The half of that name."),
    (r"u8|u16|u32|u64|usize", "An unsigned integer; usize: as of sizes."),
    (r"version_(major|minor|patch)", "A part of the version's number."),
    (r"cpu_id|owner_id|current_context|panic", "klock_os_..., by a name in C++."),
    (r"calibration_error", "Why a calibration is not to be relied on."),
    (r"(irq_|handler_)?(shared_)?(try_)?guard|rescue_guard",
     "Takes a lock for the length of a block."),
    (r"(irq_)?pair_guard", "Takes two locks for the length of a block."),
    (r"KLOCK_\w+_INIT", "A free lock, or a node that is not in use."),
    (r"KLOCK_\w+_CONTENDERS", "Contexts that may hold or wait at once."),
    (r"file|line", "Of the call, as the compiler names it."),
    (r"chars", "The text."),
    (r"lock_paced|is_queued|await_left|set_base|turns_for",
     "As the lock inside."),
    (r"assert_held", "Panics unless the caller holds it."),
    (r"set_name", "What a panic calls it; the text must last."),
    (r"to_stored|from_stored", "A value as a port keeps it, and back."),
    (r"at", "Where it lives."),
    (r"klock_(next|owner|state|taken|tail|first|busy|mine|queued|waits|byte|"
     r"queue|base|number|name|noted|inner|usage|locked|ticket|stands|place)",
     "The library's."),
    (r"klock_(?:checked_)?(?:mcs|clh|usage)_\w+|klock_checked_\w+",
     "The verb of that name, for this lock: see verbs.h."),
    (r"KLOCK_(?:\w*VERBS?|CHECKED\w*|BAKERY|TIMEOUT)",
     "Declares the lock's verbs, those of verbs.h."),
]

_NAME = re.compile(r"\b(\w+)(?:<\w+>)?\s*(?:\[\w*\]\s*)?(?:__attribute__.*)?"
                   r"(?:\(| = |;| ?\{| \d|$)")
_TYPE = re.compile(r"^(?:struct|union|enum)\b.*?\b(\w+)"
                   r"(?:<\w+>)?(?: final)?(?: : .*)? \{$")
_BEHIND = re.compile(r"^(\t*\w.*[;,}]\s*)/\*(?! O\d)(.*)\*/$")
_TOP = re.compile(r"/\*\n \* ([\w.]+) - (.*?)\n \*(?:\n|/)", re.S)
_SPECIAL = re.compile(r"^(?:\[\[\w+\]\] |constexpr |consteval |explicit |"
                      r"friend )*(?:~?(\w+)\(|\w+ &?operator=)")


def plain(text):
    """Text for Doxygen, of which nothing means anything but itself."""
    text = re.sub(r"(--|::|[\\@#*%])", r"\\\1", text.replace("`", ""))
    return html.escape(text, quote=False)


def page(text):
    """A lock header's fields in one line, for the page of its type."""
    shown = []
    for name, lines in fields(text):
        if name == "Ordering":
            rows = "<br>".join(plain(line) for line in lines if line)
            shown.append(f"<dt>{name}</dt><dd><code>{rows}</code></dd>")
        else:
            shown.append(f"<dt>{name}</dt><dd>{plain(' '.join(lines))}</dd>")
    return f" <dl>{''.join(shown)}</dl>" if shown else ""


def fields(text):
    """[(name, lines)] of the top comment, less the tests it names."""
    top = re.search(r"/\*\n.*?\*/", text, re.S)
    found = []
    for line in top[0].split("\n")[1:-1] if top else []:
        line = re.sub(r"^ \* ?", "", line)
        field = re.match(r"([A-Z][a-z]+(?: \([^)]*\)| [a-z]+)?):(?:\s+(.*))?$",
                         line)
        if field:
            found.append((field[1], [field[2] or ""]))
        elif found:
            found[-1][1].append(line.strip())
    return [(name, [re.sub(r"\s*Checked:.*", "", line) for line in lines])
            for name, lines in found] if len(found) > 5 else []


def guide(file):
    """A guide as Doxygen gets it."""
    def link(match):
        target = match[2].split("#")[0]
        if match[2].startswith("http") or \
                target and (file.parent / target).resolve() in GUIDES:
            return f"[{match[1]}]({match[2].split('#')[0]})"
        return match[1]

    text = re.sub(r"^<!--.*?-->\n", "", file.read_text(), flags=re.M | re.S)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", link, text)
    # Doxygen looks for links in code, too, and loses a quotation's.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    parts[::2] = [re.sub(r"`([^`\n]*)`",
                         lambda m: f"<code>{plain(m[1])}</code>", part)
                  for part in parts[::2]]
    return "".join(parts)


def known(code, of_type, top):
    """What documents a declaration that has no comment of its own, or ""."""
    special = _SPECIAL.match(code)
    if special and (special[1] == of_type or "operator" in code):
        return "Construction, copying, and the end."
    name = _NAME.search(code)
    if not name:
        return ""
    type_here = _TYPE.match(code)
    if type_here and type_here[1] == top[0]:
        return top[1]
    return next((text for pattern, text in KNOWN
                 if re.fullmatch(pattern, name[1])), "")


class Filter:
    def __init__(self, text):
        self.lines = text.split("\n")
        first = _TOP.search(text)
        self.top = (first[1].removesuffix(".hpp").removesuffix(".h"),
                    " ".join(first[2].replace("*", " ").split()) +
                    page(text)) if first else ("", "")
        self.types = []     # the types that are open, outermost first
        self.doc = ""       # of the declaration above, if no line is between
        self.comment = []   # the lines of the comment that is open
        self.begun = False  # behind the top comments
        self.continued = False  # a macro goes on in this line
        self.template = 0   # the line of a template<> that waits for its name

    def of(self, line):
        """One line of the file as Doxygen gets it."""
        code = line.strip()
        depth = len(line) - len(line.lstrip("\t"))
        within, self.continued = self.continued, line.endswith("\\")
        if within:
            return line
        if self.comment or code.startswith("/*"):
            return self.of_comment(line)
        if code.startswith(("namespace", "#include", "#define", "extern")):
            self.begun = True
        if code.startswith("#define"):
            why = known(code.removeprefix("#define"), "", self.top)
            above, self.doc = self.doc == "as above", ""
            if not why or above:
                return line
            return f"/** {why} */ {line}" if self.continued else \
                f"{line} /**< {why} */"
        if not code:
            self.doc = ""
        member = depth == len(self.types) and re.match(r"[\w\[~]", code)
        if member and self.begun and not code.startswith(
                ("namespace", "extern", "friend L", "private", "public")):
            line = self.of_declaration(line, code, depth)
        type_here = _TYPE.match(self.head(code))
        if type_here and depth == len(self.types):
            self.types.append(type_here[1])
            self.doc = ""
        elif re.match(r"\t*\};$", line) and depth == len(self.types) - 1:
            self.types.pop()
            self.doc = ""
        return line

    def head(self, code):
        """A type's head, which may go on in the next lines."""
        for following in self.lines[self.number:self.number + 6]:
            if not code.startswith(("struct", "union", "enum")) or \
                    code.endswith(("{", ";")):
                break
            code += " " + following.strip()
        return code

    def of_comment(self, line):
        first = not self.comment
        self.comment.append(line)
        if "*/" in line:
            whole = " ".join(self.comment)
            self.comment = []
            self.doc = "" if " -- " in whole or "O1 */" in whole else "as above"
        if not self.begun:
            # The header's own: as it stands, for the file's page.
            line = line.replace("`", "")
            if line == "/*":
                return "/** \\file"
            if self.comment[:-1] == ["/*"]:
                return line.replace(" * ", "\\verbatim ", 1)
            return "\\endverbatim */" if line == " */" else line[2:] \
                if line.startswith(" *") else line
        if first and " -- " not in line:
            return line.replace("/*", "/**", 1)
        return line

    def of_declaration(self, line, code, depth):
        behind = _BEHIND.match(line)
        if behind:
            self.doc = behind[2].strip()
            return f"{behind[1]}/**< {self.doc} */"
        if self.doc == "as above":      # the comment stands there
            self.doc = "See above." if not code.startswith("template") else \
                self.doc
            return line
        why = self.doc or known(code, self.types[-1] if self.types else "",
                                self.top)
        if code.startswith("template") and not why:
            # What it declares stands in the next lines.
            following = " ".join(l.strip() for l in
                                 self.lines[self.number:self.number + 3])
            why = known(following, "", self.top)
            self.doc = "as above" if why else ""
        return f"{line[:depth]}/** {why} */ {line[depth:]}" if why else line

    def text(self):
        out = []
        for self.number, line in enumerate(self.lines, 1):
            out.append(self.of(line))
        return "\n".join(out)


if __name__ == "__main__":
    file = Path(sys.argv[1]).resolve()
    sys.stdout.write(guide(file) if file.suffix == ".md"
                     else Filter(file.read_text()).text())
