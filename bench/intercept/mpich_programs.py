# SPDX-License-Identifier: Apache-2.0
"""MPICH's test programs (test/mpi of its sources): its lists of tests, and how they are built.

No configure is run: what the programs need of it is a short header.
"""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

CONFIG = """\
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STDARG_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_GETRUSAGE 1
#define HAVE_USLEEP 1
#define HAVE_LONG_LONG 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_MPI_INIT_THREAD 1
#define POINTERINT_t intptr_t
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
"""
UTILITIES = ("mtest.c", "mtest_common.c", "mtest_single.c", "dtypes.c")
LISTS = ("testlist", "testlist.in")
LEFT_OUT = ("hasgpu", "mpiexecarg", "mem", "xfail")
"""What needs a GPU, options of MPICH's launcher, much memory, or fails by MPICH's own account."""
DEFAULT_TIMEOUT_S = 180
"""As in MPICH's runtests."""


@dataclasses.dataclass(frozen=True)
class SuiteTest:
    """One line of a list."""

    folder: str
    program: str
    num_ranks: int
    arguments: tuple[str, ...]
    result: str
    """By which rule it passes, as MPICH's runtests names them; empty for the usual one."""
    timeout_s: int

    @property
    def name(self) -> str:
        words = [f"{self.folder}/{self.program}", *self.arguments]
        return " ".join([*words, f"({self.num_ranks})"])


def listed_tests(suite: Path, folder: str, most_ranks: int) -> list[SuiteTest]:
    """The tests of a folder, each once: variables of MPICH alone make no other test."""
    found: dict[str, SuiteTest] = {}
    for name in LISTS:
        path = suite / folder / name
        for line in path.read_text().splitlines() if path.exists() else []:
            words = line.split("#", 1)[0].split()
            if not words or not re.fullmatch(r"[a-z]\w*", words[0]):
                continue
            options = [tuple(word.split("=", 1)) for word in words[2:] if "=" in word]
            values = dict(options)
            num_ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 2
            if num_ranks > most_ranks or values.keys() & set(LEFT_OUT):
                continue
            arguments = tuple(value for key, value in options if key == "arg")
            if any("@" in argument for argument in arguments):
                continue
            timeout_s = max(DEFAULT_TIMEOUT_S, int(values.get("timeLimit", 0)))
            result = values.get("resultTest", "")
            test = SuiteTest(folder, words[0], num_ranks, arguments, result, timeout_s)
            found.setdefault(test.name, test)
    return list(found.values())


class SuiteBuild:
    """The programs for one MPI, in a folder."""

    def __init__(self, suite: Path, compiler: str, built: Path):
        self._suite = suite
        self._built = built
        generated = built / "generated"
        (generated / "include").mkdir(parents=True, exist_ok=True)
        (generated / "include" / "mpitestconf.h").write_text(CONFIG)
        # MPICH's own extensions, of which there are none.
        (generated / "include" / "mtest_mpix.h").touch()
        (generated / "dtpoolsconf.h").write_text("#define HAVE_MEMORY_H 1\n")
        includes = [generated / "include", suite / "include", suite / "dtpools" / "include"]
        # Some programs look at what neither they nor the MPI have set, as pt2pt/rqstatus at the
        # MPI_ERROR of a status: then what was in memory before would decide.
        flags = ["-O1", "-w", "-pthread", "-ftrivial-auto-var-init=zero"]
        self._compile = [compiler, *flags, *(f"-I{path}" for path in includes)]
        sources = [suite / "util" / name for name in UTILITIES]
        sources += sorted((suite / "dtpools" / "src").glob("*.c"))
        self._objects = [self._object(source) for source in sources]
        # For programs that MPICH's own build makes parts of a large one.
        self._main = self._object(suite / "util" / "run_mpitests.c")

    def _object(self, source: Path) -> Path:
        target = self._built / f"{source.stem}.o"
        if not target.exists():
            subprocess.run([*self._compile, "-c", str(source), "-o", str(target)], check=True)
        return target

    def program(self, test: SuiteTest) -> Path | None:
        """The program of a test; none where it does not compile with this MPI."""
        folder = self._suite / test.folder
        target = self._built / test.folder / test.program
        if target.exists():
            return target
        rules = _rules(folder / "Makefile.am")
        sources = rules.get(f"{test.program}_SOURCES", f"{test.program}.c").split()
        own_flags = [
            word
            for key in ("CPPFLAGS", "CFLAGS")
            for word in rules.get(f"{test.program}_{key}", "").split()
            if not word.startswith("$")
        ]
        target.parent.mkdir(parents=True, exist_ok=True)
        command = [
            *self._compile,
            f"-I{folder}",
            *own_flags,
            *(str(folder / name) for name in sources),
        ]
        has_main = any("main(int argc" in (folder / name).read_text() for name in sources)
        objects = self._objects if has_main else [self._main, *self._objects]
        command += [*map(str, objects), "-lm", "-o", str(target)]
        done = subprocess.run(command, capture_output=True, check=False)
        return target if done.returncode == 0 else None


def _rules(makefile: Path) -> dict[str, str]:
    text = makefile.read_text().replace("\\\n", " ") if makefile.exists() else ""
    return dict(re.findall(r"^(\w+)[ \t]*=[ \t]*(.*)$", text, re.MULTILINE))
