# SPDX-License-Identifier: Apache-2.0
"""Runs a program in a lab, on its head node, with all its messages by routers.

    python relayed_program.py NETWORK HOSTFILE FOLDER PROGRAM [ARGUMENT...]

Prints a line with the sockets at which the routers serve their counters, in order of the hosts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.launch.hostfile import read_hostfile
from fairlead.act.mpi_builds import find
from fairlead.act.plan.relay import new_key, write_relay_plan
from fairlead.act.preload import preload_variables
from fairlead.act.relay.routers import run_routers
from fairlead.decide.host_paths import path_table
from fairlead.model.network import Network

THRESHOLD_BYTES = 1024


def main() -> int:
    network_file, hostfile, folder, *program = sys.argv[1:]
    network = Network.load(network_file)
    launcher = detect()
    key = new_key()
    with run_routers(launcher, network.hosts, key) as routers:
        print(json.dumps([str(Path(each.socket).with_name("metrics")) for each in routers]))
        sys.stdout.flush()
        write_relay_plan(
            Path(folder), network, path_table(network), routers, key,
            threshold_bytes=THRESHOLD_BYTES, is_forced=True,
        )  # fmt: skip
        env = preload_variables({}, find(launcher).intercept, FAIRLEAD_PLAN=folder)
        hosts = read_hostfile(Path(hostfile))
        spec = LaunchSpec(tuple(program), len(network.hosts), hosts, env=env)
        return subprocess.run(launcher.prepare_command(spec, Path(folder)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
