# SPDX-License-Identifier: Apache-2.0
"""One probe in the emulated cloud, and the options that both benchmarks of the probe share."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.lab import Lab
from fairlead.model.network import Network

SCENARIOS = ("flat", "two-racks", "pairwise")


def parser_of(description: str | None, short: str) -> argparse.ArgumentParser:
    """Options of both: a short run, the launcher, the scenarios."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--short", action="store_true", help=short)
    parser.add_argument("--mpirun", default=None)
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS, choices=SCENARIOS)
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options of this run; every probe from here on is started by its launcher."""
    options = parser.parse_args()
    if options.mpirun is not None:
        os.environ["FAIRLEAD_MPIRUN"] = options.mpirun
    return options


def probed(lab: Lab, options: Sequence[str] = (), env: Mapping[str, str] | None = None) -> Network:
    """What `fairlead probe` with these options finds in the lab, noise and all.

    Args:
        env: Variables that are set in addition to those of this process.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cloud.net.npz"
        words = ["probe", *options, "--hostfile", str(lab.hostfile), "-o", str(path)]
        command = [sys.executable, "-m", "fairlead", *words]
        lab.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | (env or {}))
        return Network.load(path)
