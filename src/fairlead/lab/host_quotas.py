# SPDX-License-Identifier: Apache-2.0
"""Hosts of different speeds: a cgroup for each, with a quota of processor time.

    the hierarchy of the controller `cpu`
      └── fairlead-lab-NAME-PID
            ├── h0   quota = share
            ├── h1   quota = share
            ├── h2   quota = share / 2, a host of half the speed
            └── login, without a quota

The share is what each host would have if all computed at the same time. Without quotas a host may
take what the others leave, and a slow one would only be slow on a busy machine.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.errors import InputError, LabError
from fairlead.lab.addresses import LOGIN

__all__ = ["GROUPS", "HostQuotas", "remove_groups"]

GROUPS = "cgroups"
"""Folder of a lab with the path of each host's cgroup, which the script `join` reads."""

_USED_RATIO = 0.9
"""Part of the machine that the hosts share; the rest is for the lab itself and the launcher."""

_WEIGHTS = {1: ("cpu.shares", "262144"), 2: ("cpu.weight", "10000")}
"""By version: the largest weight, so that hosts have their share whatever else runs."""

_LEAST_QUOTA_US = 1000
"""The kernel's minimum (Documentation/scheduler/sched-bwc.rst)."""

_PERIOD_US = 4000
"""Short, as a host that has used up its quota stands still for the rest of a period."""

_END_TIMEOUT_S = 3.0


class HostQuotas:
    """The cgroups of a lab's hosts. Nothing is made before a speed is set."""

    def __init__(self, folder: Path, pid_of_host: Mapping[str, int], hosts: Sequence[str]) -> None:
        self._folder = folder
        self._pid_of_host = pid_of_host
        self._speed_of_host = dict.fromkeys(hosts, 1.0)
        self._group: Path | None = None
        self._version = 1

    def set_speed(self, host: str, ratio: float) -> None:
        """Let a host compute at a part of the speed of those with 1.

        Raises:
            InputError: The host is unknown, or the ratio is not in (0, 1].
            LabError: Cgroups cannot be written here.
        """
        if host not in self._speed_of_host:
            raise InputError(f"unknown host {host!r}; there are {', '.join(self._speed_of_host)}")
        if not 0 < ratio <= 1:
            raise InputError(f"speed: expected a number > 0 and at most 1, got {ratio}")
        self._speed_of_host[host] = float(ratio)
        try:
            if self._group is None:
                self._make_groups()
            self._write_quotas()
        except OSError as error:
            raise LabError(
                "a host's speed needs cgroups of the controller cpu that this process can write, "
                f"as root usually can: {error.filename}: {error.strerror}"
            ) from error

    def _make_groups(self) -> None:
        base, self._version = _cpu_hierarchy()
        group = base / f"fairlead-lab-{self._folder.name}-{os.getpid()}-{time.time_ns():x}"
        notes = self._folder / GROUPS
        notes.mkdir(exist_ok=True)
        # Before they are made: what a crash leaves is found by its note.
        (notes / ".lab").write_text(f"{group}\n")
        group.mkdir()
        if self._version == 2:
            (group / "cgroup.subtree_control").write_text("+cpu")
        name, weight = _WEIGHTS[self._version]
        (group / name).write_text(weight)
        hosts = (*self._speed_of_host, LOGIN)
        for host in hosts:
            (group / host).mkdir()
        self._group = group
        self._write_quotas()
        for host in hosts:
            self._adopt_processes(host)
            (notes / host).write_text(f"{group / host}\n")
        for host in hosts:
            self._adopt_processes(host)  # Those that were started meanwhile.

    def _adopt_processes(self, host: str) -> None:
        """Move what runs in a host's network namespace into its cgroup."""
        assert self._group is not None
        own = os.stat(f"/proc/{self._pid_of_host[host]}/ns/net").st_ino  # noqa: PTH116
        for process in Path("/proc").iterdir():
            if not process.name.isdecimal():
                continue
            with contextlib.suppress(OSError):  # It has ended.
                if (process / "ns" / "net").stat().st_ino == own:
                    (self._group / host / "cgroup.procs").write_text(process.name)

    def _write_quotas(self) -> None:
        assert self._group is not None
        cores = len(os.sched_getaffinity(0))
        share = _USED_RATIO * cores / len(self._speed_of_host)
        least = share * min(self._speed_of_host.values())
        period_us = max(_PERIOD_US, round(_LEAST_QUOTA_US / least))
        for host, ratio in self._speed_of_host.items():
            quota_us = max(_LEAST_QUOTA_US, round(period_us * share * ratio))
            folder = self._group / host
            if self._version == 2:
                (folder / "cpu.max").write_text(f"{quota_us} {period_us}")
                continue
            # In between, no quota may be more than the parent's: it has none.
            (folder / "cpu.cfs_quota_us").write_text("-1")
            (folder / "cpu.cfs_period_us").write_text(str(period_us))
            (folder / "cpu.cfs_quota_us").write_text(str(quota_us))


def remove_groups(folder: Path) -> None:
    """Remove the cgroups of a lab that has ended, in any way; its processes may still be ending."""
    try:
        group = Path((folder / GROUPS / ".lab").read_text().strip())
    except OSError:
        return
    end_s = time.monotonic() + _END_TIMEOUT_S
    while group.exists() and time.monotonic() < end_s:
        with contextlib.suppress(OSError):
            for child in group.iterdir():
                if child.is_dir():
                    child.rmdir()
            group.rmdir()
            return
        time.sleep(0.01)


def _cpu_hierarchy() -> tuple[Path, int]:
    """Folder below which cgroups with quotas can be made, and the version of cgroups.

    Raises:
        OSError: There is none.
    """
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        point = Path(before.split()[4])
        if kind == "cgroup" and "cpu" in options.split(","):
            return point, 1
        if kind == "cgroup2" and "cpu" in _words(point / "cgroup.controllers"):
            if "cpu" not in _words(point / "cgroup.subtree_control"):
                (point / "cgroup.subtree_control").write_text("+cpu")
            return point, 2
    raise OSError(None, "no hierarchy has the controller cpu", "/sys/fs/cgroup")


def _words(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []
