# SPDX-License-Identifier: Apache-2.0
"""Where a placement sends the bytes: inside hosts, inside racks, between racks, per bottleneck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.report.contention_view import title

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

INSIDE = "inside hosts"
IN_RACK = "inside racks"
BETWEEN_RACKS = "between racks"
BETWEEN_HOSTS = "between hosts"


class Load(NamedTuple):
    """What passes one level or bottleneck.

    Attributes:
        name: The level or the bottleneck.
        bytes: What passes it.
        seconds: A level: its messages one after another. A bottleneck: its bytes at its capacity.
            `nan` where a rate is unknown.
    """

    name: str
    bytes: float
    seconds: float


def levels(
    traffic: Traffic, network: Network, placement: Placement, racks: Sequence[Sequence[int]]
) -> list[Load]:
    """The load of each level of the network, the nearest first.

    Args:
        traffic: What the ranks send one another.
        network: Must hold the placement's hosts.
        placement: Host of each rank.
        racks: Positions in `network.hosts` of the hosts of each rack; none: there are no racks.
    """
    sent, messages = _between_hosts(traffic, network, placement)
    with np.errstate(invalid="ignore"):
        times = np.where(
            sent + messages > 0, messages * network.latency_s + sent / network.bandwidth_Bps, 0.0
        )
    masks = _masks(network.num_hosts, racks)
    return [Load(name, float(sent[of].sum()), float(times[of].sum())) for name, of in masks.items()]


def bottlenecks(traffic: Traffic, network: Network, placement: Placement) -> list[Load]:
    """The load of each shared bottleneck that was measured, and of the busiest interface."""
    sent, _messages = _between_hosts(traffic, network, placement)
    np.fill_diagonal(sent, 0)
    found = []
    for group in network.groups:
        through = float(sent[group.pairs[:, 0], group.pairs[:, 1]].sum())
        found.append(Load(title(network, group), through, through / group.capacity_Bps))
    sides = ((network.nic_out_Bps, sent.sum(axis=1)), (network.nic_in_Bps, sent.sum(axis=0)))
    busiest = [
        (float(np.nanmax(loads / rates)), float(loads[np.nanargmax(loads / rates)]))
        for rates, loads in sides
        if rates is not None and np.isfinite(rates).any()
    ]
    if busiest:
        seconds, carried = max(busiest)
        found.append(Load("the busiest interface", carried, seconds))
    return found


def bytes_between(
    traffic: Traffic, network: Network, placement: Placement, racks: Sequence[Sequence[int]]
) -> Matrix:
    """Bytes from each rack to each other one, shape (racks, racks)."""
    sent, _messages = _between_hosts(traffic, network, placement)
    return np.array([[sent[np.ix_(src, dst)].sum() for dst in racks] for src in racks])


def _between_hosts(
    traffic: Traffic, network: Network, placement: Placement
) -> tuple[Matrix, Matrix]:
    """Bytes and messages between hosts, shape (H, H), in the network's order of hosts."""
    place = {host: index for index, host in enumerate(network.hosts)}
    host = np.array([place[name] for name in placement.host_names()])
    sums = []
    for matrix in (traffic.carried.bytes, traffic.carried.messages):
        pairs = matrix.tocoo()
        total = np.zeros((network.num_hosts, network.num_hosts))
        # What a rank sends itself passes no network.
        apart = pairs.row != pairs.col
        np.add.at(total, (host[pairs.row[apart]], host[pairs.col[apart]]), pairs.data[apart])
        sums.append(total)
    return sums[0], sums[1]


def _masks(num_hosts: int, racks: Sequence[Sequence[int]]) -> dict[str, Mask]:
    inside = np.eye(num_hosts, dtype=bool)
    if not racks:
        return {INSIDE: inside, BETWEEN_HOSTS: ~inside}
    rack_of = np.zeros(num_hosts, dtype=np.int64)
    for rack, hosts in enumerate(racks):
        rack_of[list(hosts)] = rack
    is_near = rack_of[:, None] == rack_of[None]
    return {INSIDE: inside, IN_RACK: is_near & ~inside, BETWEEN_RACKS: ~is_near}
