# SPDX-License-Identifier: Apache-2.0
"""The network of a running lab: its current rates, and all changes of them."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

import numpy as np

from fairlead.errors import InputError
from fairlead.lab.background import start_background
from fairlead.lab.host_quotas import HostQuotas
from fairlead.lab.link_counters import LinkCounters
from fairlead.lab.scenario import Scenario
from fairlead.lab.tables import Change
from fairlead.lab.topology import draw_pairs, draw_topology
from fairlead.lab.wiring import Wiring

__all__ = ["LabNetwork"]


class LabNetwork:
    """Topology and wiring of one lab, changed together.

    Attributes:
        topology: The current rates.
        pid_of_host: A process in the namespaces of each host and of the head node.
        wiring: The shapers that hold the rates.
        counters: What the links of a torus carry; None without a torus.
        quotas: Processor time of the hosts.
    """

    wiring: Wiring
    quotas: HostQuotas
    counters: LinkCounters | None = None

    def __init__(self, scenario: Scenario, pid_of_host: dict[str, int]) -> None:
        self._scenario = scenario
        self.topology = draw_topology(scenario)
        self.pid_of_host = pid_of_host
        self._loads: list[int] = []

    def index(self, host: str) -> int:
        """Number of a host.

        Raises:
            InputError: There is no such host.
        """
        if host not in self.topology.hosts:
            raise InputError(f"unknown host {host!r}; there are {', '.join(self.topology.hosts)}")
        return self.topology.hosts.index(host)

    def degrade(self, src: str, dst: str, ratio: float) -> None:
        """Multiply the shaped rate of a directed pair by `ratio`; 0 cuts it.

        Raises:
            InputError: A host is unknown, both are the same, or the ratio is negative.
        """
        source, target = self.index(src), self.index(dst)
        if source == target:
            raise InputError(f"src and dst are both {src!r}; communication in a host has no rate")
        if not 0 <= ratio < np.inf:
            raise InputError(f"ratio must be >= 0 and finite, got {ratio}")
        rate_Bps = float(self.topology.shaped_Bps()[source, target]) * ratio
        self.topology.pair_Bps[source, target] = rate_Bps
        self.wiring.set_pair(source, target, rate_Bps)

    def cut_host(self, host: str) -> None:
        """Drop all packets from and to a host, as if it had crashed.

        Raises:
            InputError: The host is unknown.
        """
        index = self.index(host)
        self.topology.pair_Bps[index, :] = 0
        self.topology.pair_Bps[:, index] = 0
        self.wiring.cut_host(index)

    def add_load(self, one: str, other: str) -> None:
        """Let two hosts send to one another without a pause, until `end_loads`.

        Raises:
            InputError: A host is unknown, or both are the same.
        """
        ends = (self.index(one), self.index(other))
        if ends[0] == ends[1]:
            raise InputError(f"a pair has two hosts, got {one!r} twice")
        pids = [self.pid_of_host[host] for host in self.topology.hosts]
        both_ways = [(*ends, None), (*ends[::-1], None)]
        pid = start_background(pids, both_ways)
        assert pid is not None
        self._loads.append(pid)

    def end_loads(self) -> int:
        """End what `add_load` began; returns the number of pairs."""
        for pid in self._loads:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        num_loads, self._loads = len(self._loads), []
        return num_loads

    def link_counters(self) -> dict[str, Any]:
        """Ports and counters of all links.

        Raises:
            InputError: There is no torus.
        """
        if self.counters is None or self.topology.torus is None:
            raise InputError("has no torus, whose links have counters")
        return {"ports": self.topology.torus.links.in_ports, **self.counters.now()}

    def apply(self, change: Change) -> None:
        """Make a change planned by the scenario; cut pairs stay cut."""
        if change.seed is None:
            assert change.src is not None and change.dst is not None and change.ratio is not None
            self.degrade(change.src, change.dst, change.ratio)
            return
        assert self._scenario.pairs is not None
        drawn = draw_pairs(self._scenario.pairs, self.topology.num_hosts, change.seed)
        self.topology.pair_Bps = np.where(self.topology.pair_Bps == 0, 0, drawn)
        self.wiring.set_pairs(self.topology.pair_Bps)
