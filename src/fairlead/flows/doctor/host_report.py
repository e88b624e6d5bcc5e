# SPDX-License-Identifier: Apache-2.0
"""What each host reports of itself: a shell started there by the user's launcher."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairlead.act.launch import (
    Launcher,
    LaunchSpec,
    LaunchTimeoutError,
    environment_of_tools,
    run,
)
from fairlead.errors import LaunchError
from fairlead.files.scratch import scratch_folder
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

__all__ = ["HostReport", "ask_hosts"]

TIMEOUT_S = 60.0
"""Guards against a launcher that hangs; starting 256 shells takes about two seconds."""

# The rank by Open MPI, Hydra, PMIx or Slurm, as for the observation of a launcher's placement.
_SCRIPT = """
report() { echo "fairlead-host ${OMPI_COMM_WORLD_RANK-${PMI_RANK-${PMIX_RANK-$SLURM_PROCID}}} $*"; }
report clock "$(date +%s)"
report cpus "$(getconf _NPROCESSORS_ONLN)"
for path in @PATHS@; do [ -r "$path" ] && report reads "$path"; done
for name in taskset; do command -v $name >/dev/null 2>&1 && report has $name; done
for net in /sys/class/net/*; do
  [ "$(cat "$net/operstate" 2>/dev/null)" = down ] || report interface "${net##*/}"
done
sleep 0.5
"""
_LINE = re.compile(r"fairlead-host (\d+) (\w+) (.*)")

Start = Callable[[LaunchSpec], str]
"""The output of a start on all hosts."""


class HostReport(NamedTuple):
    """What a host has.

    Attributes:
        host: Its name.
        clock_s: Its time, whole seconds since 1970.
        num_cpus: CPUs that are online.
        paths: Those of the paths asked for that it can read.
        programs: Those of the programs asked for that it has.
        interfaces: Its network interfaces that are up, without the loopback.
    """

    host: str
    clock_s: int
    num_cpus: int
    paths: frozenset[Path]
    programs: frozenset[str]
    interfaces: tuple[str, ...]


def ask_hosts(
    launcher: Launcher,
    cluster: Cluster,
    paths: Sequence[Path],
    launcher_args: tuple[str, ...] = (),
    start: Start | None = None,
) -> list[HostReport]:
    """The report of each host, in the cluster's order.

    Args:
        launcher: The user's launcher.
        cluster: The hosts.
        paths: Files and folders; each host reports which of them it can read.
        launcher_args: The user's own arguments for the launcher.
        start: Starts a program on all hosts; None: by the launcher.

    Raises:
        LaunchError: The launcher failed, or a host did not report.
    """
    script = _SCRIPT.replace("@PATHS@", " ".join(shlex.quote(str(path)) for path in paths))
    one_each = Placement(cluster.hosts, np.arange(cluster.num_hosts), method="doctor")
    spec = LaunchSpec(
        ("/bin/sh", "-c", script),
        cluster.num_hosts,
        cluster,
        one_each,
        launcher_args=launcher_args,
        is_tool=True,
    )
    output = start(spec) if start else _start(launcher, spec)
    facts: dict[int, list[tuple[str, str]]] = {}
    for rank, name, value in _LINE.findall(output):
        facts.setdefault(int(rank), []).append((name, value.strip()))
    missing = [host for rank, host in enumerate(cluster.hosts) if rank not in facts]
    if missing:
        raise LaunchError(f"no report of {', '.join(missing[:3])}")
    return [_report(host, facts[rank]) for rank, host in enumerate(cluster.hosts)]


def _start(launcher: Launcher, spec: LaunchSpec) -> str:
    with scratch_folder("fairlead-doctor-") as folder:
        try:
            command = launcher.prepare_command(spec, folder)
            finished = run(command, env=environment_of_tools(), capture=True, timeout_s=TIMEOUT_S)
        except LaunchTimeoutError as error:
            raise LaunchError(str(error)) from error
    if finished.returncode != 0:
        lines = [line.strip() for line in finished.stderr.splitlines() if re.search(r"\w", line)]
        last = lines[-1] if lines else f"exit code {finished.returncode}"
        raise LaunchError(f"{launcher.name} ends with: {last}")
    return finished.stdout


def _report(host: str, facts: Sequence[tuple[str, str]]) -> HostReport:
    def all_of(wanted: str) -> list[str]:
        return [value for name, value in facts if name == wanted]

    def number(wanted: str) -> int:
        found = all_of(wanted)
        return int(found[0]) if found and found[0].isdecimal() else 0

    return HostReport(
        host,
        number("clock"),
        number("cpus"),
        frozenset(map(Path, all_of("reads"))),
        frozenset(all_of("has")),
        tuple(sorted(name for name in all_of("interface") if name != "lo")),
    )
