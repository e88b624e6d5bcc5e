# SPDX-License-Identifier: Apache-2.0
"""The exact linear program of a collective operation in the fluid limit, for small networks.

Each part of a message is a commodity that flows from its source to all who need it; what goes to
several over one link is sent once. Reductions are the same backwards. (Beaumont, Legrand, Marchal,
Robert 2005, "Pipelining broadcasts on heterogeneous platforms".)
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

import fairlead as fl

Matrix = npt.NDArray[np.float64]


class Commodity(NamedTuple):
    """Something that `root` sends to `others`, or backwards what they combine for it."""

    root: int
    others: tuple[int, ...]
    is_backwards: bool
    share: int | None = None
    """Index of the part of the vector, whose size is free; None: of the size of the message."""


def commodities(operation: str, num_hosts: int, root: int) -> list[Commodity]:
    hosts = range(num_hosts)

    def others(host: int) -> tuple[int, ...]:
        return tuple(peer for peer in hosts if peer != host)

    if operation in ("bcast", "reduce"):
        return [Commodity(root, others(root), operation == "reduce")]
    if operation in ("scatter", "gather"):
        return [Commodity(root, (host,), operation == "gather") for host in others(root)]
    if operation in ("allgather", "reduce_scatter"):
        return [Commodity(host, others(host), operation == "reduce_scatter") for host in hosts]
    if operation == "alltoall":
        return [Commodity(src, (dst,), False) for src, dst in itertools.permutations(hosts, 2)]
    assert operation == "allreduce"
    return [Commodity(host, others(host), back, host) for host in hosts for back in (False, True)]


def fluid_s(operation: str, network: fl.Network, message_bytes: float, root: int = 0) -> float:
    """Least time without latencies, in seconds; what an allreduce by any trees can reach."""
    num_hosts = network.num_hosts
    links = list(itertools.permutations(range(num_hosts), 2))
    parts = commodities(operation, num_hosts, root)
    num_shares = num_hosts if operation == "allreduce" else 0

    # Variables: rate of the message, rate of each share, use of each link by each commodity, and
    # the flow to each of its destinations.
    num_variables = 1 + num_shares
    use = np.zeros((len(parts), len(links)), dtype=int)
    flow: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    for index, part in enumerate(parts):
        use[index] = num_variables + np.arange(len(links))
        num_variables += len(links)
        for other in part.others:
            flow[index, other] = num_variables + np.arange(len(links))
            num_variables += len(links)

    equal: list[dict[int, float]] = []
    upper: list[tuple[dict[int, float], float]] = []
    for (index, other), columns in flow.items():
        part = parts[index]
        rate = 0 if part.share is None else 1 + part.share
        source, sink = (other, part.root) if part.is_backwards else (part.root, other)
        for host in range(num_hosts):
            row: dict[int, float] = {}
            for column, (src, dst) in zip(columns, links, strict=True):
                row[int(column)] = float(src == host) - float(dst == host)
            row[rate] = float(host == sink) - float(host == source)
            equal.append(row)
        upper += [
            ({int(column): 1.0, int(used): -1.0}, 0.0)
            for column, used in zip(columns, use[index], strict=True)
        ]
    if num_shares:
        equal.append({0: -1.0} | {1 + share: 1.0 for share in range(num_shares)})

    def all_of(chosen: list[int]) -> dict[int, float]:
        return {int(use[part, link]): 1.0 for part in range(len(parts)) for link in chosen}

    pair_Bps = network.bandwidth_Bps
    out_Bps, in_Bps = capacities(network)
    for link, (src, dst) in enumerate(links):
        upper.append((all_of([link]), pair_Bps[src, dst]))
    for host in range(num_hosts):
        upper.append(
            (all_of([n for n, (src, _) in enumerate(links) if src == host]), out_Bps[host])
        )
        upper.append((all_of([n for n, (_, dst) in enumerate(links) if dst == host]), in_Bps[host]))
    for group in network.groups:
        members = {tuple(pair) for pair in group.pairs.tolist()}
        chosen = [n for n, pair in enumerate(links) if pair in members]
        upper.append((all_of(chosen), group.capacity_Bps))

    def dense(rows: list[dict[int, float]]) -> Matrix:
        matrix = np.zeros((len(rows), num_variables))
        for number, row in enumerate(rows):
            for column, value in row.items():
                matrix[number, column] = value
        return matrix

    objective = np.zeros(num_variables)
    objective[0] = -1.0
    unit_Bps = float(np.max(out_Bps))
    solved = linprog(
        objective,
        A_ub=dense([row for row, _ in upper]),
        b_ub=np.array([limit for _, limit in upper]) / unit_Bps,
        A_eq=dense(equal),
        b_eq=np.zeros(len(equal)),
    )
    assert solved.status == 0, solved.message
    return message_bytes / (-solved.fun * unit_Bps)


def capacities(network: fl.Network) -> tuple[Matrix, Matrix]:
    """What each host sends and receives in all: its NIC, or the fastest pair through it."""
    pair_Bps = np.where(np.eye(network.num_hosts, dtype=bool), 0.0, network.bandwidth_Bps)
    out_Bps, in_Bps = network.nic_out_Bps, network.nic_in_Bps
    return (
        pair_Bps.max(axis=1) if out_Bps is None else out_Bps,
        pair_Bps.max(axis=0) if in_Bps is None else in_Bps,
    )
