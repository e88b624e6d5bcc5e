# SPDX-License-Identifier: Apache-2.0
"""Slurm's own controller, started for as long as it takes to read a topology."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from pathlib import Path

PROGRAM = shutil.which("slurmctld", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")

_SWITCH = re.compile(r"Switch level:(\d+) name:(\S+) nodes:(\S+) switches:(\S+)")


def read_switches(folder: Path, hosts: list[str]) -> dict[str, tuple[int, str, str]]:
    """Level, nodes and switches of each switch, as slurmctld reads `topology.conf` of a folder."""
    (folder / "state").mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "slurm.conf").write_text(
        "ClusterName=test\n"
        f"SlurmctldHost={socket.gethostname().partition('.')[0]}(127.0.0.1)\n"
        f"SlurmctldPort={port}\nSlurmUser=root\n"
        "AuthType=auth/none\nCredType=cred/none\n"
        f"StateSaveLocation={folder / 'state'}\nSlurmctldPidFile={folder / 'pid'}\n"
        "TopologyPlugin=topology/tree\nSelectType=select/cons_tres\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        f"NodeName={','.join(hosts)} CPUs=1\nPartitionName=all Nodes=ALL Default=YES\n"
    )
    assert PROGRAM is not None
    found: dict[str, tuple[int, str, str]] = {}
    lines = []
    with subprocess.Popen(
        [PROGRAM, "-D", "-vv", "-f", str(folder / "slurm.conf")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as controller:  # fmt: skip
        assert controller.stderr is not None
        for line in controller.stderr:
            lines.append(line)
            match = _SWITCH.search(line)
            if match is not None:
                found[match[2]] = int(match[1]), match[3], match[4]
            elif found or "fatal" in line:
                break
        controller.kill()
    assert found, "".join(lines[-20:])
    return found
