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

from fairlead.act import mpi_builds
from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.launch.hostfile import read_hostfile
from fairlead.act.plan.relay import RELAY_RULES, new_key, write_relay_plan
from fairlead.act.preload import preload_variables
from fairlead.act.relay.counters import router_counters
from fairlead.act.relay.routers import run_routers
from fairlead.decide.host_paths import MOST_RELAYS, probed_path_table
from fairlead.lab import Lab
from fairlead.model.network import Network

sys.path.append(str(Path(__file__).parents[1] / "objective"))
sys.path.append(str(Path(__file__).parents[1] / "probe"))
from probing import probed
from running import of_its_own

MPIRUN = {"FAIRLEAD_MPIRUN": "mpirun.openmpi"}


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
    command = [sys.executable, str(Path(__file__)), json.dumps(request)]
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


def _inside(request: dict[str, Any]) -> None:
    """On the head node."""
    folder = Path(request["folder"])
    launcher = detect()
    hosts = read_hostfile(Path(request["hostfile"]))
    network = Network.load(folder / "network.net.npz")
    counters: list[Any] = []
    if not request["with_relays"]:
        output = _launched(launcher, hosts, request, request["env"], folder)
    else:
        key = new_key()
        table = probed_path_table(network, MOST_RELAYS[request["rule"]])
        with run_routers(launcher, network.hosts, key) as routers:
            write_relay_plan(
                folder / "plan", network, table, routers, key,
                threshold_bytes=request["threshold_bytes"], is_forced=request["is_forced"],
                rule=request["rule"],
            )  # fmt: skip
            library = mpi_builds.find(launcher).intercept
            env = preload_variables({}, library, FAIRLEAD_PLAN=str(folder / "plan"))
            output = _launched(launcher, hosts, request, env, folder)
            counters = [router_counters(Path(each.socket).with_name("metrics")) for each in routers]
    (folder / "result.json").write_text(json.dumps({"output": output, "counters": counters}))


def _launched(launcher: Any, hosts: Any, request: dict[str, Any], env: dict[str, str],
              folder: Path) -> str:  # fmt: skip
    spec = LaunchSpec(
        tuple(request["argv"]), request["num_ranks"], hosts, env=env,
        launcher_args=tuple(request["launcher_args"]),
    )  # fmt: skip
    command = launcher.prepare_command(spec, folder)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    _inside(json.loads(sys.argv[1]))
