# SPDX-License-Identifier: Apache-2.0
"""A run of a program on the head node of an emulated cloud, as `clouds.run_in` requests it.

Started for each run, so it imports nothing of the lab.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, LaunchSpec, detect
from fairlead.act.launch.hostfile import read_hostfile
from fairlead.act.plan.relay import new_key, write_relay_plan
from fairlead.act.preload import preload_variables
from fairlead.act.relay.counters import router_counters
from fairlead.act.relay.routers import run_routers
from fairlead.decide.host_paths import MOST_RELAYS, probed_path_table
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network


def run(request: dict[str, Any]) -> None:
    """Write the output, and the counters of the routers, into the folder of the request."""
    folder = Path(request["folder"])
    launcher = detect()
    hosts = read_hostfile(Path(request["hostfile"]))
    network = Network.load(folder / "network.net.npz")
    counters: list[Any] = []
    if not request["with_relays"]:
        output = launched(launcher, hosts, request, request["env"], folder)
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
            output = launched(launcher, hosts, request, env, folder)
            counters = [router_counters(Path(each.socket).with_name("metrics")) for each in routers]
    (folder / "result.json").write_text(json.dumps({"output": output, "counters": counters}))


def launched(
    launcher: Launcher, hosts: Cluster, request: dict[str, Any], env: dict[str, str], folder: Path
) -> str:
    spec = LaunchSpec(
        tuple(request["argv"]), request["num_ranks"], hosts, env=env,
        launcher_args=tuple(request["launcher_args"]),
    )  # fmt: skip
    command = launcher.prepare_command(spec, folder)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    run(json.loads(sys.argv[1]))
