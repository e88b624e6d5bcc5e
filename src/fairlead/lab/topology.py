# SPDX-License-Identifier: Apache-2.0
"""The topology that a scenario gives: the rack of each host, the rate of each link and pair."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.lab.scenario import Scenario
from fairlead.lab.tables import PairDelays, PairRates
from fairlead.model import topology as model_topology
from fairlead.model.topology import Reduction
from fairlead.model.topology.routes import known_reducer

__all__ = ["Topology", "draw_pairs", "draw_topology"]

Matrix = npt.NDArray[np.float64]


@dataclasses.dataclass
class Topology:
    """The network of a lab at one moment.

    Attributes:
        hosts: Names, length H, in the user's order.
        rack_of_host: Rack of each host, length H.
        nic_Bps: Rate of each host's interface, both ways, length H.
        uplink_Bps: Rate of each rack's uplink, both ways; empty where all hosts share a switch.
        pair_Bps: Rate of each directed pair, shape (H, H), [src, dst]; `inf` where only NICs
            and uplinks limit it, 0 where the pair is cut.
        delay_s: Added one-way delay of each directed pair, shape (H, H), [src, dst], diagonal 0.
        connection_Bps: The most that one TCP connection carries; None without such a limit.
        torus_sizes: Routers in each dimension; empty where there is no torus.
        torus_Bps: Rate of the links of each dimension.
    """

    hosts: tuple[str, ...]
    rack_of_host: list[int]
    nic_Bps: list[float]
    uplink_Bps: list[float]
    pair_Bps: Matrix
    delay_s: Matrix
    connection_Bps: float | None = None
    torus_sizes: list[int] = dataclasses.field(default_factory=list)
    torus_Bps: list[float] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def torus(self) -> model_topology.Topology | None:
        """The routers and their links; None where there are no routers."""
        if not self.torus_sizes:
            return None
        return model_topology.whole_torus(
            self.torus_sizes, self.hosts, self.torus_Bps, self.nic_Bps
        )

    @property
    def num_hosts(self) -> int:
        """Number of hosts H."""
        return len(self.hosts)

    @property
    def num_racks(self) -> int:
        """Number of racks, at least 1."""
        return max(len(self.uplink_Bps), 1)

    def links(self, src: int, dst: int) -> list[str]:
        """Names of the shared links on the path from one host to another, in order."""
        path = [f"h{src}.out"]
        if self.torus is not None:
            path += [self.torus.links.out_ports[link] for link in self.torus.routes.route(src, dst)]
        if self.rack_of_host[src] != self.rack_of_host[dst]:
            path += [f"rack{self.rack_of_host[src]}.up", f"rack{self.rack_of_host[dst]}.down"]
        return [*path, f"h{dst}.in"]

    def shaped_Bps(self) -> Matrix:
        """Rate of each directed pair without other traffic, by one connection.

        Returns:
            Bytes per second on the wire, shape (H, H), [src, dst], diagonal `inf`.
        """
        nic_Bps = np.asarray(self.nic_Bps)
        shaped = np.minimum(self.pair_Bps, np.minimum.outer(nic_Bps, nic_Bps))
        if self.connection_Bps is not None:
            shaped = np.minimum(shaped, self.connection_Bps)
        if self.uplink_Bps:
            rack = np.asarray(self.rack_of_host)
            uplink_Bps = np.asarray(self.uplink_Bps)[rack]
            across = rack[:, None] != rack[None, :]
            between = np.minimum.outer(uplink_Bps, uplink_Bps)
            shaped = np.where(across, np.minimum(shaped, between), shaped)
        if self.torus is not None:
            slowest = known_reducer(self.torus.routes, self.torus.links.capacity_Bps, Reduction.min)
            src, dst = np.indices(shaped.shape)
            shaped = np.minimum(shaped, slowest(src, dst))
        np.fill_diagonal(shaped, np.inf)
        return np.asarray(shaped)

    def delayed_pairs(self) -> list[tuple[int, int]]:
        """Directed pairs with an added delay, as numbers of source and destination."""
        return [(int(src), int(dst)) for src, dst in np.argwhere(self.delay_s > 0)]

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON can hold them; `inf` becomes null."""
        pairs = [[None if np.isinf(rate) else rate for rate in row] for row in self.pair_Bps]
        matrices = {"pair_Bps": pairs, "delay_s": self.delay_s.tolist()}
        return dataclasses.asdict(self) | matrices

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Topology:
        """The inverse of `to_json`."""
        pairs = [[np.inf if rate is None else rate for rate in row] for row in fields["pair_Bps"]]
        arrays = {"pair_Bps": np.array(pairs), "delay_s": np.array(fields["delay_s"])}
        return cls(**fields | {"hosts": tuple(fields["hosts"])} | arrays)


def draw_topology(scenario: Scenario) -> Topology:
    """Draw all random values by the scenario's seeds; the same scenario gives the same network."""
    num_hosts = scenario.hosts
    num_racks = scenario.racks.count if scenario.racks else 1
    racks = np.arange(num_hosts) * num_racks // num_hosts
    order = np.random.default_rng(scenario.order_seed).permutation(num_hosts)
    rack_of_host = [int(rack) for rack in racks[order]]
    pair_Bps = np.full((num_hosts, num_hosts), np.inf)
    if scenario.pairs is not None:
        pair_Bps = draw_pairs(scenario.pairs, num_hosts, scenario.pairs.seed)
        for pair in scenario.pairs.given:
            src, dst = (scenario.host_names.index(host) for host in (pair.src, pair.dst))
            pair_Bps[src, dst] = pair.rate
    return Topology(
        hosts=scenario.host_names,
        rack_of_host=rack_of_host,
        nic_Bps=scenario.nic_Bps,
        uplink_Bps=scenario.racks.uplink_Bps if scenario.racks else [],
        pair_Bps=pair_Bps,
        delay_s=_draw_delays(scenario, np.array(rack_of_host)),
        connection_Bps=scenario.connection,
        torus_sizes=scenario.torus.sizes if scenario.torus else [],
        torus_Bps=scenario.torus.links if scenario.torus else [],
    )


def draw_pairs(pairs: PairRates, num_hosts: int, seed: int) -> Matrix:
    """Lognormal rates of all directed pairs.

    Returns:
        Bytes per second, shape (H, H), [src, dst], diagonal `inf`; `inf` everywhere where the
        scenario gives no median.
    """
    if pairs.median is None:
        return np.full((num_hosts, num_hosts), np.inf)
    rates = pairs.median * _lognormal(pairs, num_hosts, seed)
    np.fill_diagonal(rates, np.inf)
    return np.asarray(rates)


def _draw_delays(scenario: Scenario, rack: npt.NDArray[np.int64]) -> Matrix:
    """Added one-way delay of all directed pairs: the sum over the links, and the pair's own."""
    num_hosts = scenario.hosts
    delay_s = np.zeros((num_hosts, num_hosts))
    latency = scenario.latency
    if latency is None:
        return delay_s
    if latency.pairs is not None:
        if latency.pairs.median is not None:
            drawn = _lognormal(latency.pairs, num_hosts, latency.pairs.seed)
            delay_s += latency.pairs.median * drawn
        for pair in latency.pairs.given:
            src, dst = (scenario.host_names.index(host) for host in (pair.src, pair.dst))
            delay_s[src, dst] = pair.delay
    nic_s = np.broadcast_to(latency.nic, num_hosts)
    delay_s += np.add.outer(nic_s, nic_s)
    if scenario.racks is not None:
        uplink_s = np.broadcast_to(latency.uplink, scenario.racks.count)[rack]
        across = rack[:, None] != rack[None, :]
        delay_s += np.where(across, np.add.outer(uplink_s, uplink_s), 0)
    np.fill_diagonal(delay_s, 0)
    return delay_s


def _lognormal(spread: PairRates | PairDelays, num_hosts: int, seed: int) -> Matrix:
    """Factor on the median for each directed pair, shape (H, H), [src, dst]."""
    shape = (num_hosts, num_hosts)
    random = np.random.default_rng(seed)
    both_ways = np.triu(random.standard_normal(shape), 1)
    both_ways = both_ways + both_ways.T
    one_way = random.standard_normal(shape)
    # The two parts are independent, so that the variance stays sigma^2 for every asymmetry.
    normal = np.sqrt(1 - spread.asymmetry) * both_ways + np.sqrt(spread.asymmetry) * one_way
    return np.asarray(np.exp(spread.sigma * normal))
