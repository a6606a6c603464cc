# SPDX-License-Identifier: MIT
"""Installs by cmake --install and by the package, and removes both again.

Nothing is compiled here: the libraries are empty files. The guides build them,
and use what is installed.
"""
import os
import re
import shlex
import shutil
from pathlib import Path

import cases
import guide

_LIST = "lib/cmake/klock/files.sha256"


def _configure(case, root, build, *options):
    build = case.scratch / build
    case.must("cmake", "-G", "Ninja", "-S", root, "-B", build, "-D",
              "KLOCK_TESTS=OFF", "-D", "CMAKE_BUILD_TYPE=Release", *options)
    for script in build.rglob("cmake_install.cmake"):
        for name in re.findall(r'"(/[^"]*\.a)"', script.read_text()):
            if Path(name).is_relative_to(build):
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).touch()
    return build


def _files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if not path.is_dir()}


def _check_links(case, docs, least):
    """Each link of an installed document leads to a file, and its anchor to a
    heading; those of the source tree have not just become text."""
    found = 0
    for path in docs.rglob("*.md"):
        for to, anchor in guide.links(path.read_text()):
            file = Path(os.path.normpath(path.parent / to)) if to else path
            found += 1
            case.expect(file.exists(), f"{path}: a link to {to}")
            if anchor and file.suffix == ".md" and file.exists():
                case.expect(anchor in guide.anchors(file.read_text()),
                            f"{path}: no heading for {to}#{anchor}")
    case.expect(found >= least, f"{docs}: only {found} links")


def links_lead_somewhere(case):
    for engines, least in (("ON", 200), ("OFF", 200)):
        build = _configure(case, case.root, f"build_{engines}",
                           "-D", f"KLOCK_ENGINES={engines}")
        prefix = case.scratch / engines
        case.must("cmake", "--install", build, "--prefix", prefix)
        _check_links(case, prefix / "share/doc/klock", least)


def newer_leaves_nothing_of_the_older(case):
    """An install over an older one removes that one's headers, but no file that
    is not klock's or was changed since."""
    older = case.scratch / "older"
    guide.clone(case.root, older)
    for name in ("gone", "changed"):
        (older / f"lib/klock/{name}.hpp").touch()
    (older / "lib/klock/only").mkdir()
    (older / "lib/klock/only/gone.hpp").touch()
    prefix = case.scratch / "a prefix"
    case.must("cmake", "--install", _configure(case, older, "build_older"),
              "--prefix", prefix)
    headers = prefix / "include/klock/klock"
    case.expect((headers / "only/gone.hpp").exists(), "no older header")
    (headers / "changed.hpp").write_text("// mine\n")
    (headers / "mine.hpp").touch()
    build = _configure(case, case.root, "build")
    said = case.must("cmake", "--install", build, "--prefix", prefix)
    fresh = case.scratch / "fresh"
    case.must("cmake", "--install", build, "--prefix", fresh)
    own = {f"include/klock/klock/{name}.hpp" for name in ("mine", "changed")}
    case.expect(_files(prefix) == _files(fresh) | own,
                f"differs: {_files(prefix) ^ _files(fresh)}")
    case.expect(not (headers / "only").exists(), "an empty folder is left")
    case.expect("changed.hpp" in said, f"silent of what it left: {said}")
    case.must("env", "-C", (prefix / _LIST).parent, "sha256sum", "--quiet", "-c",
              Path(_LIST).name)


def uninstalled(case):
    """The target `uninstall` removes all files, below DESTDIR and after a move,
    too."""
    build = _configure(case, case.root, "build")
    status, said = case.call("cmake", "--build", build, "--target", "uninstall")
    case.expect(status and "no installed klock" in said, f"no error: {said}")
    prefix, moved = case.scratch / "klock", case.scratch / "moved"
    for what in ("target", "DESTDIR", "script"):
        env = ["env", f"DESTDIR={moved}"] if what == "DESTDIR" else ["env"]
        top = Path(f"{moved}{prefix}") if what == "DESTDIR" else prefix
        mine = top / "include/mine.h"
        mine.parent.mkdir(parents=True)
        mine.touch()
        case.must(*env, "cmake", "--install", build, "--prefix", prefix)
        case.expect(len(_files(top)) > 100, f"{what}: not installed to {top}")
        if what == "script":
            top = prefix.rename(moved)
            case.must("cmake", "-P", (top / _LIST).with_name("uninstall.cmake"))
        else:
            case.must(*env, "cmake", "--build", build, "--target", "uninstall")
        case.expect(_files(top) == {"include/mine.h"}, f"{what}: left: "
                    f"{_files(top)}")
        left = [str(path) for path in top.rglob("klock")]
        case.expect(not left, f"{what}: folders are left: {left}")
        shutil.rmtree(moved if top.is_relative_to(moved) else top)


def relative_prefix(case):
    """The list, and pkg-config's files, name no relative folder."""
    build = _configure(case, case.root, "build")
    prefix = case.scratch / "a prefix"
    for _ in range(2):
        case.must("cmake", "--install", build, "--prefix", "other/../a prefix")
        case.must("env", "-C", (prefix / _LIST).parent, "sha256sum", "--quiet",
                  "-c", Path(_LIST).name)
    said = (prefix / "lib/pkgconfig/klock.pc").read_text()
    case.expect(f"prefix={prefix}\n" in said, said)
    _check_links(case, prefix / "share/doc/klock", 200)
    case.must("cmake", "-P", (prefix / _LIST).with_name("uninstall.cmake"))
    case.expect(not _files(prefix), f"left: {_files(prefix)}")


def absolute_folders(case):
    """As some distributions have them, beside the prefix."""
    top = case.scratch / "a root"
    build = _configure(case, case.root, "build", *(
        word for name in ("INCLUDE", "LIB", "DOC") for word in
        ("-D", f"CMAKE_INSTALL_{name}DIR={top}/{name}")))
    prefix = case.scratch / "prefix"
    case.must("cmake", "--install", build, "--prefix", prefix)
    _check_links(case, top / "DOC", 200)
    if shutil.which("pkg-config"):
        for name in ("klock", "klock-c"):
            said = case.must("env", f"PKG_CONFIG_PATH={top}/LIB/pkgconfig",
                             "pkg-config", "--cflags", "--libs", name)
            for word in shlex.split(said):
                folder = Path(word[2:])
                case.expect(word == "-lklock" or folder.is_dir(),
                            f"{name}: {word}")
    case.must("cmake", "-P", top / "LIB/cmake/klock/uninstall.cmake")
    case.expect(not _files(top), f"left: {_files(top)}")


def components(case):
    """One of them alone takes nothing from the others."""
    build = _configure(case, case.root, "build")
    prefix = case.scratch / "prefix"
    case.must("cmake", "--install", build, "--prefix", prefix)
    before = _files(prefix)
    for component in ("klock_list", "Unspecified"):
        case.must("cmake", "--install", build, "--prefix", prefix,
                  "--component", component)
        case.expect(_files(prefix) == before,
                    f"{component}: {_files(prefix) ^ before}")
    case.must("cmake", "-P", (prefix / _LIST).with_name("uninstall.cmake"))
    case.expect(not _files(prefix), f"left: {_files(prefix)}")


def what_cannot_be_removed(case):
    """It is said, and the list stays. A folder where a header was is not
    klock's."""
    build = _configure(case, case.root, "build")
    prefix = case.scratch / "prefix"
    case.must("cmake", "--install", build, "--prefix", prefix)
    script = (prefix / _LIST).with_name("uninstall.cmake")
    header = prefix / "include/klock/klock/atomic.hpp"
    header.unlink()
    header.mkdir()
    nobody = []
    if os.getuid() == 0:
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        case.scratch.chmod(0o755)
    for folder in [prefix, *(p for p in prefix.rglob("*") if p.is_dir())]:
        folder.chmod(0o555)
    before = _files(prefix)
    status, said = case.call(*nobody, "cmake", "-P", script)
    case.expect(status and "cannot remove" in said, f"no error: {said}")
    case.expect(_files(prefix) == before, f"gone: {before - _files(prefix)}")
    for folder in [prefix, *(p for p in prefix.rglob("*") if p.is_dir())]:
        folder.chmod(0o755)
    said = case.must("cmake", "-P", script)
    case.expect(f"any more: {header}" in said, f"silent of the folder: {said}")
    case.expect(not _files(prefix) and header.is_dir(),
                f"left: {_files(prefix)}")


def others_are_not_listed(case):
    """The list of klock's files lacks those of the project that holds klock."""
    case.write("CMakeLists.txt", f"""
cmake_minimum_required(VERSION 3.25)
project(outer LANGUAGES CXX)
install(FILES CMakeLists.txt DESTINATION share/klock/outer)
add_subdirectory({case.root} klock)
""")
    build = _configure(case, case.scratch, "build", "-D", "KLOCK_INSTALL=ON")
    prefix = case.scratch / "prefix"
    case.must("cmake", "--install", build, "--prefix", prefix)
    text = (prefix / _LIST).read_text()
    case.expect("ticket_lock.hpp" in text and "outer" not in text,
                f"listed: {text}")


def package(case):
    if not shutil.which("dpkg-deb"):
        return
    build = _configure(case, case.root, "build")
    case.must("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake",
              "-B", build)
    top = case.scratch / "unpacked"
    for made in build.glob("*.deb"):
        case.must("dpkg-deb", "--extract", made, top)
    docs = top / "usr/share/doc"
    _check_links(case, docs / "klock", 200)
    said = (docs / "libklock-dev/copyright").read_text()
    for words in ("Format: https://www.debian.org/", "\nFiles: *\n",
                  "\nCopyright: 2026 The klock authors\n",
                  "\nLicense: MIT\n MIT License\n .\n", "\n SOFTWARE.\n"):
        case.expect(words in said, f"copyright: no {words!r}")
    case.expect("\n\n" not in said.partition("License:")[2],
                "copyright: an empty line in the licence")
    case.expect(not list(top.rglob("uninstall.cmake")), "a list of its own")


if __name__ == "__main__":
    cases.main([links_lead_somewhere, newer_leaves_nothing_of_the_older,
                uninstalled, relative_prefix, absolute_folders, components,
                what_cannot_be_removed, others_are_not_listed, package],
               __doc__)
