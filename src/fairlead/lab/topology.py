# SPDX-License-Identifier: Apache-2.0
"""What a scenario draws: which host is in which rack, and the rate of every link and pair."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.lab.scenario import PairRates, Scenario

__all__ = ["Topology", "draw_pairs", "draw_topology"]

Matrix = npt.NDArray[np.float64]


@dataclasses.dataclass
class Topology:
    """The network of a lab at one moment.

    Attributes:
        hosts: Names, length H, in the order that the user sees.
        rack_of_host: Rack of each host, length H.
        nic_Bps: Rate of each host's interface, both ways, length H.
        uplink_Bps: Rate of each rack's uplink, both ways; empty where all hosts share a switch.
        pair_Bps: Rate of each directed pair, shape (H, H), [src, dst]; `inf` where only NICs
            and uplinks limit it, 0 where the pair is cut.
    """

    hosts: tuple[str, ...]
    rack_of_host: list[int]
    nic_Bps: list[float]
    uplink_Bps: list[float]
    pair_Bps: Matrix

    @property
    def num_hosts(self) -> int:
        """Number of hosts H."""
        return len(self.hosts)

    @property
    def num_racks(self) -> int:
        """Number of racks, at least 1."""
        return max(len(self.uplink_Bps), 1)

    def links(self, src: int, dst: int) -> list[str]:
        """Names of the shared links on the way from one host to another, in order."""
        path = [f"h{src}.out"]
        if self.rack_of_host[src] != self.rack_of_host[dst]:
            path += [f"rack{self.rack_of_host[src]}.up", f"rack{self.rack_of_host[dst]}.down"]
        return [*path, f"h{dst}.in"]

    def shaped_Bps(self) -> Matrix:
        """Rate of each directed pair when nobody else sends: the smallest on its way.

        Returns:
            Bytes per second on the wire, shape (H, H), [src, dst], diagonal `inf`.
        """
        nic_Bps = np.asarray(self.nic_Bps)
        shaped = np.minimum(self.pair_Bps, np.minimum.outer(nic_Bps, nic_Bps))
        if self.uplink_Bps:
            rack = np.asarray(self.rack_of_host)
            uplink_Bps = np.asarray(self.uplink_Bps)[rack]
            across = rack[:, None] != rack[None, :]
            between = np.minimum.outer(uplink_Bps, uplink_Bps)
            shaped = np.where(across, np.minimum(shaped, between), shaped)
        np.fill_diagonal(shaped, np.inf)
        return np.asarray(shaped)

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON can hold them; `inf` becomes null."""
        pairs = [[None if np.isinf(rate) else rate for rate in row] for row in self.pair_Bps]
        return dataclasses.asdict(self) | {"pair_Bps": pairs}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Topology:
        """The inverse of `to_json`."""
        pairs = [[np.inf if rate is None else rate for rate in row] for row in fields["pair_Bps"]]
        return cls(**fields | {"hosts": tuple(fields["hosts"]), "pair_Bps": np.array(pairs)})


def draw_topology(scenario: Scenario) -> Topology:
    """Draw all that the scenario leaves to its seeds; the same scenario gives the same network."""
    num_hosts = scenario.hosts
    num_racks = scenario.racks.count if scenario.racks else 1
    racks = np.arange(num_hosts) * num_racks // num_hosts
    order = np.random.default_rng(scenario.order_seed).permutation(num_hosts)
    pair_Bps = np.full((num_hosts, num_hosts), np.inf)
    if scenario.pairs is not None:
        pair_Bps = draw_pairs(scenario.pairs, num_hosts, scenario.pairs.seed)
        for pair in scenario.pairs.given:
            src, dst = (scenario.host_names.index(host) for host in (pair.src, pair.dst))
            pair_Bps[src, dst] = pair.rate
    return Topology(
        hosts=scenario.host_names,
        rack_of_host=[int(rack) for rack in racks[order]],
        nic_Bps=scenario.nic_Bps,
        uplink_Bps=scenario.racks.uplink_Bps if scenario.racks else [],
        pair_Bps=pair_Bps,
    )


def draw_pairs(pairs: PairRates, num_hosts: int, seed: int) -> Matrix:
    """Lognormal rates of all directed pairs.

    Returns:
        Bytes per second, shape (H, H), [src, dst], diagonal `inf`; `inf` everywhere where the
        scenario gives no median.
    """
    shape = (num_hosts, num_hosts)
    if pairs.median is None:
        return np.full(shape, np.inf)
    random = np.random.default_rng(seed)
    both_ways = np.triu(random.standard_normal(shape), 1)
    both_ways = both_ways + both_ways.T
    one_way = random.standard_normal(shape)
    # The two parts are independent, so that the variance stays sigma^2 for every asymmetry.
    normal = np.sqrt(1 - pairs.asymmetry) * both_ways + np.sqrt(pairs.asymmetry) * one_way
    rates = pairs.median * np.exp(pairs.sigma * normal)
    np.fill_diagonal(rates, np.inf)
    return np.asarray(rates)
