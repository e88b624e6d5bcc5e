# SPDX-License-Identifier: Apache-2.0
"""Slurm's own controller, started for as long as it takes to read a topology.

Debian 12 has Slurm 22.05, which knows trees alone; FAIRLEAD_TEST_SLURMCTLD names the controller of
a newer one (blocks since 23.11, topology.yaml since 25.05).
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fairlead.act.launch.slurm import expand_node_list

PROGRAM = os.environ.get("FAIRLEAD_TEST_SLURMCTLD") or shutil.which(
    "slurmctld", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
)

_SWITCH = re.compile(r"Switch level:(\d+) name:(\S+) nodes:(\S+) switches:(\S+)")
_BLOCK = re.compile(r"Block name:(\S+) nodes:(\S+)")


def version() -> tuple[int, int]:
    """Version of the controller; (0, 0) without one."""
    if PROGRAM is None:
        return 0, 0
    said = subprocess.run([PROGRAM, "-V"], capture_output=True, text=True, check=True).stdout
    major, minor = said.split()[-1].split(".")[:2]
    return int(major), int(minor)


def read_switches(
    folder: Path, hosts: list[str], plugin: str = "TopologyPlugin=topology/tree\n"
) -> dict[str, tuple[int, str, str]]:
    """Level, nodes and switches of each switch, as slurmctld reads a folder's topology."""
    found = _read(folder, hosts, plugin)
    matches = [match for line in found if (match := _SWITCH.search(line)) is not None]
    assert matches, "".join(found[-20:])
    return {match[2]: (int(match[1]), _one_by_one(match[3]), match[4]) for match in matches}


def read_blocks(
    folder: Path, hosts: list[str], plugin: str = "TopologyPlugin=topology/block\n"
) -> Mapping[str, str]:
    """Nodes of each block, also of those that it aggregates, by the names of the blocks."""
    found = _read(folder, hosts, plugin)
    matches = [match for line in found if (match := _BLOCK.search(line)) is not None]
    assert matches, "".join(found[-20:])
    return {match[1]: _one_by_one(match[2]) for match in matches}


def _one_by_one(nodes: str) -> str:
    """Names of nodes one by one: versions differ in when they write `h[0-1]`."""
    return ",".join(expand_node_list(nodes))


def _read(folder: Path, hosts: list[str], plugin: str) -> list[str]:
    """What the controller prints until it has read the topology."""
    (folder / "state").mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "slurm.conf").write_text(
        "ClusterName=test\n"
        f"SlurmctldHost={socket.gethostname().partition('.')[0]}(127.0.0.1)\n"
        f"SlurmctldPort={port}\nSlurmUser=root\n"
        "AuthType=auth/none\nCredType=cred/none\n"
        f"StateSaveLocation={folder / 'state'}\nSlurmctldPidFile={folder / 'pid'}\n"
        f"{plugin}SelectType=select/cons_tres\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        f"NodeName={','.join(hosts)} CPUs=1\nPartitionName=all Nodes=ALL Default=YES\n"
    )
    assert PROGRAM is not None
    lines: list[str] = []
    with subprocess.Popen(
        [PROGRAM, "-D", "-vv", "-f", str(folder / "slurm.conf")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as controller:  # fmt: skip
        assert controller.stderr is not None
        has_topology = False
        for line in controller.stderr:
            lines.append(line)
            is_of_group = bool(_SWITCH.search(line) or _BLOCK.search(line))
            has_topology = has_topology or is_of_group
            if (has_topology and not is_of_group and "topology/" not in line) or "fatal" in line:
                break
        controller.kill()
    return lines
