# SPDX-License-Identifier: Apache-2.0
"""MPICH: `mpiexec` of the Hydra process manager."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from fairlead.act.launch._preparation import check_job, slots_per_host, write_once
from fairlead.act.launch.formats.machinefile import machinefile_lines
from fairlead.act.launch.job import Job

_BANNER = re.compile(r"HYDRA build details:\s*Version:\s*(\d+)\.(\d+)(?:\.(\d+))?")

HOST_OPTIONS = frozenset({"n", "np", "f", "hostfile", "machinefile", "machine", "hosts", "host"})
PLACING_OPTIONS = frozenset({"ppn", "perhost", "order-nodes"})


@dataclasses.dataclass(frozen=True)
class Mpich:
    """MPICH 3.3 and later; tried with 4.0.2."""

    path: Path
    version: tuple[int, ...]
    family: str = "mpich"
    name: str = "MPICH"
    agent_variables: tuple[str, ...] = ("HYDRA_LAUNCHER_EXEC",)
    agent_options: tuple[str, ...] = ("-launcher-exec",)

    @classmethod
    def recognise(cls, path: Path, banner: str) -> Mpich | None:
        """This launcher, when `banner` (the output of `--version`) is its own."""
        found = _BANNER.search(banner)
        return cls(path, tuple(int(part) for part in found.groups() if part)) if found else None

    def check(self, job: Job) -> None:
        """Check a job without starting or writing anything."""
        check_job(job, HOST_OPTIONS, PLACING_OPTIONS)

    def command(self, job: Job, work_dir: Path) -> list[str]:
        """Command line that starts the job; the files it needs are written to `work_dir`."""
        self.check(job)
        exports = [part for item in job.env.items() for part in ("-genv", *item)]
        return [
            str(self.path),
            *_hosts(job, work_dir),
            *("-n", str(job.num_ranks)),
            *exports,
            *job.launcher_args,
            *job.program,
        ]


def _hosts(job: Job, work_dir: Path) -> list[str]:
    # Hydra deals ranks in the order of the lines and lets a host come back, so lines in rank order
    # are any placement. Binding is another option (-bind-to, default none) and stays untouched.
    if job.placement is not None:
        lines = machinefile_lines(job.placement.host_names())
        return ["-f", str(write_once(work_dir, "ranks", lines))]
    if job.cluster is not None:
        lines = [f"{host}:{slots}" for host, slots in slots_per_host(job).items()]
        return ["-f", str(write_once(work_dir, "hosts", lines))]
    return []
