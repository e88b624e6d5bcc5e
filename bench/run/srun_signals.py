#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What signals do to srun, and to `fairlead run` by it.

The table is in docs/reference/launcher-signals.md. As tests/mpi/launch/test_signals.py does for the
launchers of MPIs: two ranks handle each signal and note what they receive. It takes place in a job
of a real Slurm on an emulated cloud.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS / "lab"), str(TESTS / "mpi"), str(TESTS / "mpi" / "launch")]

SIGNALS = ("USR1", "USR2", "ALRM", "WINCH", "CONT", "TSTP", "TERM", "INT", "HUP", "QUIT")
LIMIT_S = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--short", action="store_true", help="one signal")
    parser.add_argument("--in-job", action="store_true", help="what the job runs")
    options = parser.parse_args()
    names = SIGNALS[:1] if options.short else SIGNALS
    if options.in_job:
        compare(names)
    else:
        submit(["--short"] if options.short else [])


def compare(names: tuple[str, ...]) -> None:
    """Send each signal to srun, and to `fairlead run`."""
    from test_signals import effect_of  # noqa: PLC0415 (its helpers need this environment)

    print("| signal | srun | fairlead run --mpirun srun |\n|---|---|---|")
    ours = [sys.executable, "-m", "fairlead", "run", "--mpirun", "srun"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in names:
            effects = [
                effect_of(signal.Signals[f"SIG{name}"], command, Path(folder) / f"{name}-{index}")
                for index, command in enumerate((["srun"], ours))
            ]
            print(f"| SIG{name} | {effects[0]} | {effects[1]} |", flush=True)


def submit(arguments: list[str]) -> None:
    """Run this file in a job of two ranks on one of two hosts."""
    from slurm_cluster import slurm_cluster  # noqa: PLC0415 (a job does without)

    from fairlead.lab import Lab, Scenario  # noqa: PLC0415

    scenario = Scenario(name="signals", hosts=2, slots=2, nic="100Mbit/s")
    line = " ".join([sys.executable, str(Path(__file__).resolve()), "--in-job", *arguments])
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        Lab.up(scenario) as lab,
        slurm_cluster(lab, Path(name), cpus=2) as slurm,
    ):
        job = slurm.submit(f"#!/bin/bash\n{line}\n", "--ntasks=2", cwd=Path(name))
        state = slurm.wait_for(job, LIMIT_S)
        print((Path(name) / f"{job}.out").read_text())
        if state != "COMPLETED":
            sys.exit(f"the job's state is {state}")


if __name__ == "__main__":
    main()
