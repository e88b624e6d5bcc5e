#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run mpi4py's own tests without the preload library, and with every collective forced through it.

    pip download --no-deps --no-binary mpi4py mpi4py && tar xf mpi4py-*.tar.gz
    python bench/collectives/mpi4py_suite.py --tests mpi4py-4.1.2/test --mpirun mpirun.openmpi

Each test has to pass with the library exactly where it passes without. The interpreter has to have
mpi4py of the same version, for this MPI. Ranks are on invented hosts, one each.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file

ROOT = Path(__file__).resolve().parents[2]
ON_HOSTS = ROOT / "tests" / "mpi" / "programs" / "on-hosts.sh"
COLLECTIVES = "test_cco_.*|test_comm.*|test_op|test_msgzero|test_attributes|test_errhandler"
OUTCOME = re.compile(r"^(\w+) \(([\w.]+)\) \.\.\. (.*)$", re.MULTILINE)


def forced_plan(folder: Path, hosts: list[str], turn: int) -> None:
    """A plan in which every call follows a schedule; in each turn by other methods."""
    num_hosts = len(hosts)
    near = np.eye(num_hosts, dtype=bool)
    network = fl.Network(hosts, np.where(near, 0.0, 5e-5), np.where(near, np.inf, 1e8))
    rules = []
    for operation in fl.collectives.OPERATIONS:
        methods = fl.collectives.methods_for(operation)
        method = methods[turn % len(methods)]
        rules.append({"operation": operation, "min_bytes": 0, "max_bytes": None, "hosts": None,
                      "method": method})  # fmt: skip
    write_network_plan(folder, network)
    fields = {"num_ranks": num_hosts, "is_reproducible": False, "rules": rules}
    write_plan_file(folder, "collectives.json", fields, 1)


def outcomes(command: list[str], folder: Path, env: dict[str, str]) -> tuple[dict[str, str], str]:
    """The outcome of each test, and the last line."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False
    )
    printed = done.stdout + done.stderr
    found = {f"{test}": outcome for _, test, outcome in OUTCOME.findall(printed)}
    return found, f"exit code {done.returncode}; " + (printed.strip().splitlines() or ["?"])[-1]


def main() -> int:
    """Print what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tests", type=Path, required=True, help="test/ of mpi4py's source")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has mpi4py")
    parser.add_argument("--mpirun", default="mpirun.openmpi")
    parser.add_argument("--libmpi", help="MPI library that mpi4py loads (its MPI4PY_LIBMPI)")
    parser.add_argument("-n", type=int, default=3, dest="num_ranks")
    parser.add_argument(
        "--include", default=COLLECTIVES, help="names of tests, as its main.py has it"
    )
    parser.add_argument("--turns", type=int, default=1, help="rounds, each by other methods")
    options = parser.parse_args()

    launcher = detect(options.mpirun)
    hosts = [f"h{rank}" for rank in range(options.num_ranks)]
    extra = []
    if launcher.family == "openmpi":
        os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        over = ["--oversubscribe"] if launcher.version[0] < 5 else ["--map-by", ":oversubscribe"]
        extra = [*over, "--mca", "mpi_yield_when_idle", "1"]
    command = [options.mpirun, *extra, "-n", str(options.num_ranks), str(ON_HOSTS), ",".join(hosts),
               options.python, "main.py", "-v", "-i", options.include]  # fmt: skip
    env = {"MPI4PY_LIBMPI": options.libmpi} if options.libmpi else {}
    native, last = outcomes(command, options.tests, env)
    passed = sum(outcome == "ok" for outcome in native.values())
    print(f"{launcher.name}, without: {len(native)} tests, {passed} pass; {last}", flush=True)
    differ = 0
    for turn in range(options.turns):
        with tempfile.TemporaryDirectory() as folder:
            forced_plan(Path(folder), hosts, turn)
            library = str(find(launcher).intercept)
            with_library = {"LD_PRELOAD": library, "FAIRLEAD_PLAN": folder}
            forced, last = outcomes(command, options.tests, env | with_library)
        passed = sum(outcome == "ok" for outcome in forced.values())
        print(f"with, turn {turn}: {len(forced)} tests, {passed} pass; {last}", flush=True)
        for test in sorted(native.keys() | forced.keys()):
            if native.get(test) != forced.get(test):
                differ += 1
                print(f"  {test}: {native.get(test)} without, {forced.get(test)} with")
    return 1 if differ or not native else 0


if __name__ == "__main__":
    sys.exit(main())
