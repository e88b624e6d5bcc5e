# SPDX-License-Identifier: Apache-2.0
"""Runs `fairlead compare` inside an emulated cloud and hands back what it measured."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fairlead.comparison import Comparison
from fairlead.lab import Lab
from fairlead.launch import detect
from fairlead.mpi_builds import find
from fairlead.run_directory import COMPARISON

PROGRAMS = {
    "cg": (("cg", "--size", "56000", "--systems", "1"), r"solve_s\s+([0-9.]+)"),
    "stencil": (("stencil",), r"solve_s\s+([0-9.]+)"),
}
"""Arguments of each example, and where it prints its own time."""


def program(name: str) -> list[str]:
    """Command line of an example program for the default launcher."""
    (example, *arguments), _pattern = PROGRAMS[name]
    return [str(find(detect()).example(example)), *arguments]


def compare(
    lab: Lab, name: str, methods: Sequence[str], repeats: int, options: Sequence[str] = ()
) -> Comparison:
    """Compare methods on one example program, by the time that the program itself prints.

    Args:
        lab: The cloud.
        name: Of one of `PROGRAMS`.
        methods: The launcher's placement and others.
        repeats: Runs of each.
        options: Further ones of `fairlead compare`.

    Raises:
        subprocess.CalledProcessError: The comparison failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        run_directory = Path(folder) / "run"
        lab.run(
            [
                *(sys.executable, "-m", "fairlead", "compare", "-n", "32"),
                *("--hostfile", str(lab.hostfile), "--network", "probe:"),
                *("--methods", ",".join(methods), "--repeats", str(repeats)),
                *("--time-pattern", PROGRAMS[name][1], "--run-dir", str(run_directory)),
                *options,
                *("--", *program(name)),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return Comparison.load(run_directory / COMPARISON)
