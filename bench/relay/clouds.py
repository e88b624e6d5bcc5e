# SPDX-License-Identifier: Apache-2.0
"""Programs in an emulated cloud, by the MPI alone and with relays: what the benchmarks share."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fairlead.act.plan.relay import RELAY_RULES
from fairlead.lab import Lab
from fairlead.model.network import Network

sys.path.append(str(Path(__file__).parents[1] / "objective"))
sys.path.append(str(Path(__file__).parents[1] / "probe"))
from probing import probed
from running import of_its_own

MPIRUN = {"FAIRLEAD_MPIRUN": "mpirun.openmpi"}
INSIDE = Path(__file__).with_name("inside.py")


def compiled(source: Path, folder: Path) -> Path:
    program = folder / source.stem
    subprocess.run(["mpicc.openmpi", "-O2", source, "-o", program], check=True)
    return program


def measured(lab: Lab) -> Network:
    """What the default probe finds."""
    return probed(lab, env=MPIRUN)


def run_in(
    lab: Lab,
    network: Network,
    argv: list[str],
    num_ranks: int,
    folder: Path,
    *,
    with_relays: bool,
    launcher_args: tuple[str, ...] = (),
    threshold_bytes: int = 65536,
    hostfile: Path | None = None,
    is_forced: bool = False,
    rule: str = RELAY_RULES[0],
    preload: str | None = None,
) -> dict[str, Any]:
    """Run a program on the head node, one rank a host in turn.

    Args:
        hostfile: Some hosts of the lab, for the ranks; by default all.
        is_forced: With relays no message is the MPI's, and none is a trial.
        rule: By which messages take paths.
        preload: A library that the program is run with, where there are no relays.

    Returns:
        Its output, and the counters of the routers at its end.
    """
    folder.mkdir(parents=True)
    network.save(folder / "network.net.npz")
    request = {
        "argv": argv, "num_ranks": num_ranks, "folder": str(folder),
        "hostfile": str(hostfile or lab.hostfile), "with_relays": with_relays,
        "launcher_args": ["--map-by", "node", *of_its_own(folder), *launcher_args],
        "threshold_bytes": threshold_bytes, "is_forced": is_forced, "rule": rule,
        "env": {"LD_PRELOAD": preload} if preload else {},
    }  # fmt: skip
    command = [sys.executable, str(INSIDE), json.dumps(request)]
    done = lab.run(command, capture_output=True, text=True, env=os.environ | MPIRUN)
    if done.returncode != 0:
        raise SystemExit(f"{argv[0]} failed:\n{done.stdout}{done.stderr}")
    return json.loads((folder / "result.json").read_text())


@contextlib.contextmanager
def repeat_meanwhile(
    lab: Lab, network: Network, argv: list[str], num_ranks: int, folder: Path, **options: Any
) -> Iterator[list[dict[str, Any]]]:
    """Run a program again and again until the block ends; arguments are those of `run_in`.

    Yields:
        What `run_in` returned of each run; of the last one only after the block.
    """
    results: list[dict[str, Any]] = []
    is_over = threading.Event()

    def run_all() -> None:
        while not is_over.is_set():
            work = folder / str(len(results))
            results.append(run_in(lab, network, argv, num_ranks, work, **options))

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_all)
        try:
            yield results
        finally:
            is_over.set()
        running.result()
