# SPDX-License-Identifier: Apache-2.0
"""What the ranks of a program compute, on hosts of different speeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead import _core
from fairlead.model.host_rates import HostSpeeds, host_speeds
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic

__all__ = ["ComputeDemand", "compute_demand"]


class ComputeDemand(NamedTuple):
    """Work of T ranks, and speeds of H hosts.

    Attributes:
        work_s: Computing time of each rank on a core of speed 1, shape (T,).
        speeds: Speeds of the hosts of a network, in its order.
    """

    work_s: npt.NDArray[np.float64]
    speeds: HostSpeeds

    def arrays(self) -> _core.DemandArrays:
        """In the compiled core's form."""
        return _core.DemandArrays(self.work_s, self.speeds.one_core, self.speeds.all_cores)

    def slowest_s(self, host_of_rank: npt.NDArray[np.int64]) -> float:
        """Computing time of the slowest rank of a placement."""
        counts = Counter(host_of_rank.tolist())
        return max(
            float(work_s) * self.speeds.seconds_per_work(host, counts[host])
            for work_s, host in zip(self.work_s, host_of_rank.tolist(), strict=True)
        )


def compute_demand(
    traffic: Traffic, network: Network, hosts: Sequence[str] | None = None
) -> ComputeDemand | None:
    """The demand, where hosts differ in speed and what the ranks compute is known; else None.

    The time that a rank computed in the traced run is what it did on its host there, which may have
    been a slow one: its work is that time as of a core of speed 1. A host that the network lacks
    counts as the median host.

    Args:
        traffic: With the computing times and hosts of its ranks.
        network: With the rates of its hosts; all of them say which one is slow.
        hosts: Those of the demand, in this order; None for all of the network.
    """
    if traffic.compute_s is None or not np.isfinite(traffic.compute_s).all():
        return None
    rates = network.host_rates
    speeds = None if rates is None else host_speeds(rates)
    if speeds is None:
        return None
    work_s = _work_s(traffic, network, speeds)
    if hosts is not None:
        speeds = speeds.select(np.array([network.index(host) for host in hosts]))
    return ComputeDemand(work_s, speeds)


def _work_s(traffic: Traffic, network: Network, speeds: HostSpeeds) -> npt.NDArray[np.float64]:
    assert traffic.compute_s is not None
    index_of = {_short(host): index for index, host in enumerate(network.hosts)}
    counts = Counter(traffic.compute_hosts)
    usual = HostSpeeds(np.ones(1), np.array([float(np.median(speeds.all_cores))]))
    work_s = traffic.compute_s.copy()
    for rank, name in enumerate(traffic.compute_hosts):
        index = index_of.get(_short(name))
        of_host, position = (usual, 0) if index is None else (speeds, index)
        work_s[rank] /= of_host.seconds_per_work(position, counts[name])
    return work_s


def _short(host: str) -> str:
    return host.split(".", maxsplit=1)[0]
