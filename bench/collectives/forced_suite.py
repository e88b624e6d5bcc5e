# SPDX-License-Identifier: Apache-2.0
"""mpi4py's own tests, without the preload library and with a feature forced: what the suites share.

    pip download --no-deps --no-binary mpi4py mpi4py && tar xf mpi4py-*.tar.gz

Each test has to pass with the library exactly where it passes without. The interpreter has to have
mpi4py of the same version, for this MPI: a wheel of it loads the first libmpi.so that it finds,
which need not be the launcher's, so the suite does not begin unless it is. Ranks are on invented
hosts, one each. MPICH's wait busily; yielding.c lets them give the processor away, in both runs.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from yielding import yielding_library

from fairlead.act.launch import Launcher, detect
from fairlead.act.mpi_builds import find
from fairlead.act.preload import preload_variables

ROOT = Path(__file__).resolve().parents[2]
ON_HOSTS = ROOT / "tests" / "mpi" / "programs" / "on-hosts.sh"
OUTCOME = re.compile(r"^(\w+) \(([\w.]+)\) \.\.\. (.*)$", re.MULTILINE)

TO_OWN_FILE = 'exec "$@" > "$0/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" 2>&1'
"""So that what the ranks print does not mix; $0 is a folder."""

SEE_EACH_OTHER = "from mpi4py import MPI; raise SystemExit(MPI.COMM_WORLD.size != {})"

ForcedPlan = Callable[[Path, list[str], int], AbstractContextManager[None]]
"""Writes a plan into a folder, for these hosts and this turn; it serves until the block ends."""


def parser_of_suite(doc: str | None, include: str) -> argparse.ArgumentParser:
    """The options of a suite.

    Args:
        doc: What it does.
        include: The tests that it runs by default.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tests", type=Path, required=True, help="test/ of mpi4py's source")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has mpi4py")
    parser.add_argument("--mpirun", default="mpirun.openmpi")
    parser.add_argument("--libmpi", help="MPI library that mpi4py loads, a path for MPICH")
    parser.add_argument("-n", type=int, default=3, dest="num_ranks")
    parser.add_argument("--include", default=include, help="names of tests, as its main.py has it")
    parser.add_argument("--exclude", help="names of tests that are left out, in the same way")
    return parser


def num_differing(options: argparse.Namespace, forced_plan: ForcedPlan, num_turns: int = 1) -> int:
    """Run the suite without the library and then with it, and print what differs.

    Returns:
        The number of tests that differ, at least 1 if none ran.
    """
    launcher = detect(options.mpirun)
    hosts = [f"host{rank}" for rank in range(options.num_ranks)]
    command = _command(options, launcher, hosts)
    with tempfile.TemporaryDirectory() as folder:
        env = _environment(options, launcher, Path(folder))
        if not _is_mpi_of_launcher(command, options.num_ranks, env):
            print(f"mpi4py does not load the MPI of {options.mpirun}; name it by --libmpi")
            return 1
        native, last = _outcomes(command, options.tests, env)
        _print_results(f"{launcher.name}, without", native, last)
        differ = 0
        for turn in range(num_turns):
            plan = Path(folder, f"turn-{turn}")
            plan.mkdir()
            with forced_plan(plan, hosts, turn):
                library = find(launcher).intercept
                with_library = preload_variables(env, library, FAIRLEAD_PLAN=str(plan))
                forced, last = _outcomes(command, options.tests, with_library)
            _print_results(f"with, turn {turn}", forced, last)
            differ += _print_differing(native, forced)
    return differ or (0 if native else 1)


def _print_results(title: str, found: dict[str, str], last: str) -> None:
    num_passed = sum(outcome == "ok" for outcome in found.values())
    print(f"{title}: {len(found)} tests, {num_passed} pass; {last}", flush=True)


def _print_differing(native: dict[str, str], forced: dict[str, str]) -> int:
    """Returns how many they are."""
    differing = [
        test
        for test in sorted(native.keys() | forced.keys())
        if native.get(test) != forced.get(test)
    ]
    for test in differing:
        print(f"  {test}: {native.get(test)} without, {forced.get(test)} with", flush=True)
    return len(differing)


def _environment(options: argparse.Namespace, launcher: Launcher, folder: Path) -> dict[str, str]:
    """In which mpi4py loads the MPI of the launcher, and ranks let each other run."""
    env = {"MPI4PY_LIBMPI": options.libmpi} if options.libmpi else {}
    if launcher.family != "mpich":
        return env
    if options.libmpi:
        # A wheel of mpi4py looks for the name that MPICH's library has outside of Debian.
        (folder / "libmpi.so.12").symlink_to(options.libmpi)
        env |= {"LD_LIBRARY_PATH": str(folder), "MPI4PY_MPIABI": "mpich"}
    return preload_variables(env, yielding_library(folder))


def _command(options: argparse.Namespace, launcher: Launcher, hosts: list[str]) -> list[str]:
    extra: list[str] = []
    if launcher.family == "openmpi":
        os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        over = ["--oversubscribe"] if launcher.version[0] < 5 else ["--map-by", ":oversubscribe"]
        extra = [*over, "--mca", "mpi_yield_when_idle", "1"]
    command = [options.mpirun, *extra, "-n", str(options.num_ranks), str(ON_HOSTS), ",".join(hosts),
               options.python, "main.py", "-v", "-i", options.include]  # fmt: skip
    return [*command, "-e", options.exclude] if options.exclude else command


def _is_mpi_of_launcher(command: list[str], num_ranks: int, env: dict[str, str]) -> bool:
    """Whether the ranks see each other: with another MPI each process is alone."""
    ask = [*command[: command.index("main.py")], "-c", SEE_EACH_OTHER.format(num_ranks)]
    done = subprocess.run(ask, env=os.environ | env, capture_output=True, check=False)
    return done.returncode == 0


def _outcomes(command: list[str], folder: Path, env: dict[str, str]) -> tuple[dict[str, str], str]:
    """The outcomes of each test on all ranks, and the last line of the first rank."""
    at = command.index("main.py") - 1
    with tempfile.TemporaryDirectory() as output:
        done = subprocess.run(
            [*command[:at], "sh", "-c", TO_OWN_FILE, output, *command[at:]],
            cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        written = [path.read_text() for path in sorted(Path(output).iterdir())]
    found: dict[str, set[str]] = {}
    for text in written:
        for _, test, outcome in OUTCOME.findall(text):
            found.setdefault(test, set()).add(outcome)
    lines = (written[0] if written else done.stdout + done.stderr).strip().splitlines()
    outcomes = {test: ", ".join(sorted(each)) for test, each in found.items()}
    return outcomes, f"exit code {done.returncode}; " + (lines or ["?"])[-1]
