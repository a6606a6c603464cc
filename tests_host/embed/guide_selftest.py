#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""guide.py finds what is wrong in a guide."""
import sys

import cases

GOOD = """\
# A guide
<!-- test: good -->
First `made/hello`:
```
one
three
```
In `made/hello`, below `one`:
```
two
```
```sh
cat made/hello
test -f klock/LICENSE
```
```text
two
```
"""

#  what is wrong         from            to
AT_WORK = [
    ("a command fails", "cat made", "cat mode"),
    ("not what is printed", "```text\ntwo", "```text\nfour"),
    ("an edit has no place", "below `one`", "below `four`"),
    ("no clone", "klock/LICENSE", "klock/NOT_THERE"),
]
WHEN_READ = [
    ("an untested block", "# A guide", "# A guide\n```sh\nfalse\n```"),
    ("an excerpt of nothing", "# A guide",
     "# A guide\n<!-- excerpt: LICENSE -->\n```\nnot there\n```"),
    ("a dead link", "# A guide", "# A guide\n[x](nowhere.md)"),
    ("a link to no heading", "# A guide", "# A guide\n[x](#another-guide)"),
    ("a folder that is copied in secret", "good -->", "good from made -->"),
    ("a name that nobody sees", "First `made/hello`:",
     "<!-- file: made/hello -->"),
    ("one name twice", "# A guide", "<!-- test: good -->\n# A guide"),
    ("a command that nothing runs", "# A guide",
     "# A guide\n```\nctest -L one\n```"),
    ("an indented command", "# A guide", "# A guide\n\n\tctest -L one\n"),
    ("no such preset", "# A guide",
     "# A guide\n<!-- not run: slow -->\n```sh\nctest --preset none\n```"),
    ("no such script", "# A guide", "# A guide\n`toolchain/none --all`"),
    ("no such option", "# A guide", "# A guide\n`toolchain/tool --none`"),
    ("no such target", "# A guide",
     "# A guide\n`cmake --build build/default --target none`"),
    ("no such label", "# A guide", "# A guide\n`ctest -L one -L none`"),
]
# Each name is there.
NAMED = """\
# A guide
`ctest --preset all -L one -R first` and `toolchain/tool --all | cat`.
<!-- not run: it takes long -->
```sh
cmake --build build/default --target made   # --target none
ninja -C build/default made && cmake --workflow --preset all
```
"""


def _guide(case, text, *arguments):
    # A root that is small, so that a clone of it is quick.
    top = case.scratch / "top"
    top.mkdir(exist_ok=True)
    (top / "LICENSE").write_text("MIT\n")
    (top / "guide.md").write_text(text)
    (top / "toolchain").mkdir(exist_ok=True)
    (top / "toolchain/tool").write_text("#!/bin/sh\necho --all\n")
    (top / "toolchain/tool").chmod(0o755)
    (top / "CMakePresets.json").write_text(
        '{"testPresets": [{"name": "all"}], "workflowPresets": [{"name": "all"}]}')
    (top / "build").mkdir(exist_ok=True)
    (top / "build/build.ninja").write_text("build made: phony\n")
    (top / "build/CTestTestfile.cmake").write_text(
        'add_test(first "true")\n'
        'set_tests_properties(first PROPERTIES LABELS "one")\n')
    return case.call(sys.executable, "-B", case.root /
                     "tests_host/embed/guide.py", "--root", top, "--build",
                     top / "build", *arguments, "guide.md")


def _run(case, text):
    return _guide(case, text, "--run", "good", "--work", case.scratch / "good")


def a_good_guide_passes(case):
    for status, said in (_guide(case, GOOD, "--check"), _run(case, GOOD),
                         _guide(case, NAMED, "--check")):
        case.expect(status == 0, said)


def what_fails_is_found(case):
    for name, old, new in AT_WORK:
        bad = GOOD.replace(old, new)
        case.expect(bad != GOOD and _run(case, bad)[0] == 1, f"missed: {name}")


def what_is_wrong_is_found(case):
    for name, old, new in WHEN_READ:
        status, said = _guide(case, GOOD.replace(old, new), "--check")
        case.expect(status == 1 and "Traceback" not in said, f"missed: {name}")


def a_missing_program_skips(case):
    text = GOOD.replace("First", "<!-- needs: no-such-program -->\nFirst")
    case.expect(_run(case, text)[0] == 77, "not skipped")


def one_goes_on_where_another_ended(case):
    text = GOOD + ("# More\n<!-- test: more after good -->\n```sh\n"
                   "cat made/hello\n```\n")
    more = ("--run", "more", "--work", case.scratch / "more")
    case.expect(_guide(case, text, *more)[0] == 1, "missed: nothing before it")
    case.expect(_run(case, text)[0] == 0 and _guide(case, text, *more)[0] == 0,
                "it does not find what was made")
    case.expect(_guide(case, text.replace("after good", "after all"),
                       "--check")[0] == 1, "missed: after a recipe of no name")


CASES = [a_good_guide_passes, one_goes_on_where_another_ended, what_fails_is_found, what_is_wrong_is_found,
         a_missing_program_skips]

if __name__ == "__main__":
    cases.main(CASES, __doc__)
