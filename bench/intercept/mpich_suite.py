#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run MPICH's own tests without the preload library, and with each of its features forced.

    git clone https://github.com/pmodels/mpich
    python bench/intercept/mpich_suite.py --suite mpich/test/mpi --mpirun mpirun.openmpi

Each test has to pass with the library exactly where it passes without. Ranks are on invented hosts,
one each. What does not compile with the MPI is left out. A difference counts if two more runs, one
after the other and with nothing else running, differ as well from two more without.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import itertools
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "collectives"))
sys.path.append(str(ROOT / "tests" / "mpi"))
from mpi4py_suite import forcing_methods  # noqa: E402
from mpich_programs import SuiteBuild, SuiteTest, listed_tests  # noqa: E402
from relaying import ON_HOSTS, hosts_of, running, uneven_network, write_plan  # noqa: E402
from yielding import yielding_library  # noqa: E402

import fairlead as fl  # noqa: E402
from fairlead.act.launch import Launcher, detect  # noqa: E402
from fairlead.act.mpi_builds import find  # noqa: E402
from fairlead.act.plan.network import write_network_plan  # noqa: E402
from fairlead.act.plan.plan_file import write_plan_file  # noqa: E402
from fairlead.act.plan.reorder import write_reorder_plan  # noqa: E402
from fairlead.act.preload import preload_variables  # noqa: E402

FOLDERS = ("pt2pt", "coll", "topo", "errhan", "attr", "comm", "datatype", "group", "info", "init",
           "rma")  # fmt: skip
FEATURES = {
    "trace": ("trace",),
    "collectives": ("collectives",),
    "relay": ("relay",),
    "reorder": ("reorder",),
    "together": ("trace", "collectives", "relay", "reorder"),
}
BOUNDS = (0, 512, 8192, None)
"""Sizes from one to the next have methods of their own."""
NUM_AGAIN = 2
NOT_REORDERED = ("topo/distgraph1", "topo/dgraph_unwgt")
"""They compare neighbours with ranks of MPI_COMM_WORLD, also where they allow the MPI to give the
processes other ranks (MPI 4.0, section 8.5.4). So they differ where it is done."""
WITHOUT = "without"
AS_WANTED = ("pass", "skipped")


class Suite:
    """Runs tests with one MPI."""

    def __init__(self, options: argparse.Namespace, scratch: Path):
        self._launcher: Launcher = detect(options.mpirun)
        self._mpirun = options.mpirun
        self._scratch = scratch
        self._numbers = itertools.count()
        self._env: dict[str, str] = {}
        if self._launcher.family == "mpich":
            # Ranks wait busily; so they let each other run.
            self._env = preload_variables({}, yielding_library(scratch))

    @property
    def name(self) -> str:
        version = ".".join(map(str, self._launcher.version))
        return f"{self._launcher.name} {version}"

    def outcome(self, test: SuiteTest, program: Path, feature: str) -> str:
        """How a test ends: pass, skipped, fail or timeout.

        Args:
            test: The test.
            program: Its program.
            feature: One of FEATURES, or WITHOUT the library.
        """
        folder = self._scratch / str(next(self._numbers))
        folder.mkdir()
        with contextlib.ExitStack() as stack:
            env = self._env
            if feature != WITHOUT:
                variables = stack.enter_context(forced(FEATURES[feature], folder, test.num_ranks))
                env = preload_variables(env, find(self._launcher).intercept, **variables)
            found = self._run(test, program, folder, env)
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def _run(self, test: SuiteTest, program: Path, folder: Path, env: Mapping[str, str]) -> str:
        words = [self._mpirun, *self._arguments(), "-n", str(test.num_ranks), str(ON_HOSTS)]
        words += [",".join(hosts_of(test.num_ranks)), str(program), *test.arguments]
        process = subprocess.Popen(
            words, cwd=folder, env=os.environ | env, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=test.timeout_s)
        except subprocess.TimeoutExpired:
            # The launcher ends its ranks, which may be in sessions of their own.
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=20)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timeout"
        return judged(test.result, process.returncode, output)

    def _arguments(self) -> list[str]:
        if self._launcher.family != "openmpi":
            return []
        over = (
            ["--oversubscribe"] if self._launcher.version[0] < 5 else ["--map-by", ":oversubscribe"]
        )
        return [*over, "--mca", "mpi_yield_when_idle", "1"]


def judged(rule: str, exit_code: int, output: str) -> str:
    """As MPICH's runtests judges, but what a library or the launcher prints does not count."""
    if re.search(r"^\s*Test Skipped\s*$", output, re.MULTILINE):
        return "skipped"
    has_no_errors = re.search(r"^\s*No [Ee]rrors\s*$", output, re.MULTILINE) is not None
    passes = {
        "TestStatus": exit_code != 0,
        "TestErrFatal": exit_code != 0,
        "TestStatusNoErrors": exit_code != 0 and has_no_errors,
        "TestBench": exit_code == 0,
    }.get(rule, exit_code == 0 and has_no_errors)
    return "pass" if passes else "fail"


@contextlib.contextmanager
def forced(features: tuple[str, ...], folder: Path, num_ranks: int) -> Iterator[dict[str, str]]:
    """The variables that force these features, for ranks on hosts of their own."""
    plan = folder / "plan"
    plan.mkdir()
    network = uneven_network(num_ranks)
    variables = {"FAIRLEAD_TRACE": str(folder / "trace")} if "trace" in features else {}
    if features != ("trace",):
        variables["FAIRLEAD_PLAN"] = str(plan)
    with contextlib.ExitStack() as stack:
        if "relay" in features:
            routers = stack.enter_context(running(num_ranks))
            write_plan(plan, routers, threshold_bytes=0)
        if "reorder" in features:
            write_reorder_plan(plan, network)
        if "collectives" in features:
            write_network_plan(plan, network)
            fields = {"num_ranks": num_ranks, "is_reproducible": False, "rules": forcing_rules()}
            write_plan_file(plan, "collectives.json", fields, 2)
        yield variables


def forcing_rules() -> list[dict[str, object]]:
    """Rules for every call; sizes of one operation follow several methods."""
    return [
        {"operation": operation, "min_bytes": low, "hosts": None, "method": method,
         "max_bytes": None if high is None else high - 1}
        for operation in fl.collectives.OPERATIONS
        for (low, high), method in zip(
            itertools.pairwise(BOUNDS), itertools.cycle(forcing_methods(operation))
        )
    ]  # fmt: skip


def compare(
    suite: Suite, tests: Mapping[SuiteTest, Path], options: argparse.Namespace
) -> dict[str, object]:
    """All tests without the library, twice, and with each feature; then again what differs."""
    ways = [WITHOUT, WITHOUT, *options.features * options.times]
    outcomes = run_all(suite, tests, ways, options.jobs)
    found = {"differing": [], "reordered": []}
    for test, feature in first_differences(outcomes, ways):
        again = [
            [suite.outcome(test, tests[test], way) for way in (WITHOUT, feature)]
            for _ in range(NUM_AGAIN)
        ]
        if not all(do_differ(without, with_it) for without, with_it in again):
            continue
        row = {"test": test.name, "feature": feature, "without": again[0][0], "with": again[0][1]}
        may_be_reordered = "reorder" in FEATURES[feature] and row["with"] == "fail"
        is_reordered = may_be_reordered and test.name.startswith(NOT_REORDERED)
        found["reordered" if is_reordered else "differing"].append(row)
        print(f"differs: {row}", flush=True)
    return {
        "num_tests": len(tests),
        "without": Counter(each[0] for each in outcomes.values()),
        "not_steady_without": sorted(
            test.name for test, each in outcomes.items() if each[0] != each[1]
        ),
        "num_runs_with": {way: ways.count(way) * len(tests) for way in options.features},
        **found,
    }


def run_all(
    suite: Suite, tests: Mapping[SuiteTest, Path], ways: Sequence[str], num_jobs: int
) -> dict[SuiteTest, list[str]]:
    """The outcomes of each test by each of the ways."""
    with ThreadPoolExecutor(num_jobs) as pool:
        runs = {
            test: [pool.submit(suite.outcome, test, program, way) for way in ways]
            for test, program in tests.items()
        }
        outcomes = {}
        for number, (test, futures) in enumerate(runs.items(), 1):
            outcomes[test] = [future.result() for future in futures]
            if len(set(outcomes[test])) > 1 or number % 20 == 0:
                print(f"  {number}/{len(runs)} {test.name}: {outcomes[test]}", flush=True)
    return outcomes


def do_differ(one: str, other: str) -> bool:
    """Whether only one of two outcomes is as wanted; a test may fail in several ways."""
    return (one in AS_WANTED) != (other in AS_WANTED)


def first_differences(
    outcomes: Mapping[SuiteTest, list[str]], ways: Sequence[str]
) -> list[tuple[SuiteTest, str]]:
    """Tests and features whose outcome differs from both without the library."""
    found = {
        (test, way): None
        for test, each in outcomes.items()
        for way, outcome in zip(ways, each, strict=True)
        if all(do_differ(without, outcome) for without in each[:2])
    }
    return list(found)


def parsed_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=Path, required=True, help="test/mpi of MPICH's sources")
    parser.add_argument("--suite-version", help="commit of these sources, for the result")
    parser.add_argument("--mpirun", default="mpirun.mpich")
    parser.add_argument("--mpicc", help="of the same MPI; else as mpirun is named")
    parser.add_argument("--folders", nargs="+", default=list(FOLDERS))
    parser.add_argument("--tests", help="only those whose name matches this regular expression")
    parser.add_argument("--features", nargs="+", choices=list(FEATURES), default=list(FEATURES))
    parser.add_argument("--times", type=int, default=1, help="how often with each feature")
    parser.add_argument("--most-ranks", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2, help="tests at once")
    parser.add_argument("--built", type=Path, help="keeps the programs there")
    parser.add_argument("--write", type=Path, help="file for the result, JSON")
    return parser.parse_args()


def main() -> int:
    """Print what differs."""
    options = parsed_options()
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    compiler = options.mpicc or options.mpirun.replace("mpirun", "mpicc")
    begin = datetime.datetime.now(datetime.timezone.utc)
    with tempfile.TemporaryDirectory(prefix="fl") as scratch:
        suite = Suite(options, Path(scratch))
        build = SuiteBuild(
            options.suite.resolve(), compiler, (options.built or Path(scratch, "built")).resolve()
        )
        listed = [
            test
            for folder in options.folders
            for test in listed_tests(options.suite, folder, options.most_ranks)
            if options.tests is None or re.search(options.tests, test.name)
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            programs = dict(zip(listed, pool.map(build.program, listed), strict=True))
        tests = {test: program for test, program in programs.items() if program is not None}
        missing = sorted({f"{test.folder}/{test.program}" for test in listed if test not in tests})
        print(f"{suite.name}: {len(tests)} tests, not compiled: {missing}", flush=True)
        result = compare(suite, tests, options)
    words = [Path(__file__).relative_to(ROOT).as_posix(), "--suite", "mpich/test/mpi",
             "--mpirun", Path(options.mpirun).name, "--folders", *options.folders,
             "--features", *options.features, "--times", str(options.times)]  # fmt: skip
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    report = {
        "command": " ".join(words),
        "commit": subprocess.run(
            commit, capture_output=True, text=True, check=False
        ).stdout.strip(),
        "date": begin.date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "mpi": suite.name,
        "suite": options.suite_version,
        "not_compiled": missing,
        **result,
    }
    if options.write:
        options.write.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(result, indent=1))
    return 1 if result["differing"] else 0


if __name__ == "__main__":
    sys.exit(main())
