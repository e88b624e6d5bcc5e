# SPDX-License-Identifier: Apache-2.0
"""Patterns of 64 to 4096 tasks on hosts of 8 slots in hidden racks and pods, with fixed seeds."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

import fairlead as fl

SLOTS = 8
HOSTS_PER_RACK = 4
HOSTS_PER_POD = 16
COSTS = (1.0, 10.0, 20.0, 40.0)
"""Same host, same rack, same pod, other."""

NOISE_SIGMA = 0.35
POWER_LAW_SEED = 7

Edges = npt.NDArray[np.float64]
"""Rows of task, task, weight; each pair once, with the same traffic both ways."""


@dataclasses.dataclass(frozen=True, eq=False)
class Instance:
    """Traffic of T tasks, and H = T / 8 hosts with a cost of every pair."""

    name: str
    traffic: fl.Traffic
    cost: npt.NDArray[np.float64]

    @property
    def num_tasks(self) -> int:
        return self.traffic.num_ranks

    @functools.cached_property
    def cluster(self) -> fl.Cluster:
        return fl.Cluster.uniform([f"h{host}" for host in range(len(self.cost))], SLOTS)

    @functools.cached_property
    def network(self) -> fl.Network:
        """One byte takes a second times the cost."""
        return fl.Network(self.cluster.hosts, np.zeros(self.cost.shape), 1 / self.cost)

    def value(self, host_of_task: Sequence[int] | npt.NDArray[np.int64]) -> float:
        """Weight times cost over all directed pairs of tasks; checks the slots."""
        host_of_task = np.asarray(host_of_task)
        held = np.bincount(host_of_task, minlength=len(self.cost))
        if host_of_task.shape != (self.num_tasks,) or np.any(held > SLOTS):
            raise ValueError(f"{self.name}: not a placement of these tasks")
        pairs = self.traffic.bytes.tocoo()
        return float(pairs.data @ self.cost[host_of_task[pairs.row], host_of_task[pairs.col]])


def make_instances(sizes: Sequence[int]) -> list[Instance]:
    """All instances with these numbers of tasks."""
    return [
        Instance(name, both_ways(num_tasks, edges()), noisy_costs(num_tasks // SLOTS, num_tasks))
        for name, (num_tasks, edges) in PATTERNS.items()
        if num_tasks in sizes
    ]


def both_ways(num_tasks: int, edges: Edges) -> fl.Traffic:
    """The same weight in both directions; a message is of one byte."""
    src, dst = edges[:, :2].astype(np.int64).T
    shape = (num_tasks, num_tasks)
    one_way = sp.coo_array((edges[:, 2], (src, dst)), shape=shape).tocsr()
    weights = sp.csr_array(one_way + one_way.T)
    return fl.Traffic(weights, weights)


def noisy_costs(num_hosts: int, seed: int) -> npt.NDArray[np.float64]:
    """Cost by level times symmetric lognormal noise, hosts in hidden order; shape (H, H)."""
    rng = np.random.default_rng(seed)
    host = np.arange(num_hosts)
    rack, pod = host // HOSTS_PER_RACK, host // HOSTS_PER_POD
    in_pod = np.where(pod[:, None] == pod, COSTS[2], COSTS[3])
    cost = np.where(rack[:, None] == rack, COSTS[1], in_pod)
    above = np.triu(rng.lognormal(0, NOISE_SIGMA, cost.shape), 1)
    cost *= above + above.T
    np.fill_diagonal(cost, COSTS[0])
    hidden = rng.permutation(num_hosts)
    return cost[np.ix_(hidden, hidden)]


def stencil(*shape: int) -> Edges:
    """Neighbours along each axis of a grid that does not wrap."""
    task = np.arange(np.prod(shape)).reshape(shape)
    pairs = []
    for axis, length in enumerate(shape):
        low = np.take(task, range(length - 1), axis)
        high = np.take(task, range(1, length), axis)
        pairs.append(np.column_stack([low.ravel(), high.ravel()]))
    return with_weight(np.concatenate(pairs))


def cg_like(num_tasks: int) -> Edges:
    """NPB CG: a row reduces by doubling, and each task swaps with its transpose, twice as much.

    Source: NPB 3.4, CG/cg.f90, setup_submatrix_info (partners) and conj_grad (order).
    """
    side = round(num_tasks**0.5)
    row, column = np.divmod(np.arange(num_tasks), side)
    steps = [row * side + (column ^ (1 << step)) for step in range(side.bit_length() - 1)]
    transpose = column * side + row
    reduces = [each_once(partner, 1.0) for partner in steps]
    return np.concatenate([*reduces, each_once(transpose, 2.0)])


def bt_like(num_tasks: int) -> Edges:
    """NPB BT: multi-partition on a square torus, neighbours in x, in y and along the diagonal.

    Source: NPB 3.4, BT/make_set.f90, predecessor and successor.
    """
    side = round(num_tasks**0.5)
    row, column = np.divmod(np.arange(num_tasks), side)
    partners = [
        (row + down) % side * side + (column + right) % side
        for down, right in ((0, 1), (1, 0), (1, 1))
    ]
    task = np.arange(num_tasks)
    return with_weight(np.concatenate([np.column_stack([task, to]) for to in partners]))


def power_law(num_tasks: int) -> Edges:
    """Each task communicates with three earlier ones, more likely with those that communicate more;
    weights 1 to 9.

    Source: Barabasi and Albert 1999 (preferential attachment).
    """
    rng = np.random.default_rng(POWER_LAW_SEED)
    degree = np.ones(num_tasks)
    edges = []
    for task in range(1, num_tasks):
        chance = degree[:task] / degree[:task].sum()
        for partner in rng.choice(task, min(task, 3), replace=False, p=chance):
            edges.append((task, partner, rng.integers(1, 10)))
            degree[[task, partner]] += 1
    return np.array(edges, dtype=np.float64)


def ring(num_tasks: int) -> Edges:
    task = np.arange(num_tasks)
    return with_weight(np.column_stack([task, (task + 1) % num_tasks]))


def all_to_all(num_tasks: int) -> Edges:
    return with_weight(np.column_stack(np.triu_indices(num_tasks, 1)))


def each_once(partner: npt.NDArray[np.int64], weight: float) -> Edges:
    """Pairs of partners, in a symmetric relation; a task that is its own partner does not count."""
    task = np.arange(len(partner))
    return with_weight(np.column_stack([task, partner])[task < partner], weight)


def with_weight(pairs: npt.NDArray[np.int64], weight: float = 1.0) -> Edges:
    return np.column_stack([pairs, np.full(len(pairs), weight)])


PATTERNS: dict[str, tuple[int, Callable[[], Edges]]] = {
    "stencil-8x8": (64, lambda: stencil(8, 8)),
    "stencil-4x4x4": (64, lambda: stencil(4, 4, 4)),
    "cg-64": (64, lambda: cg_like(64)),
    "bt-64": (64, lambda: bt_like(64)),
    "all-to-all-64": (64, lambda: all_to_all(64)),
    "stencil-16x16": (256, lambda: stencil(16, 16)),
    "cg-256": (256, lambda: cg_like(256)),
    "bt-256": (256, lambda: bt_like(256)),
    "power-law-256": (256, lambda: power_law(256)),
    "ring-256": (256, lambda: ring(256)),
    "stencil-8x8x8": (512, lambda: stencil(8, 8, 8)),
    "stencil-32x32": (1024, lambda: stencil(32, 32)),
    "stencil-16x16x16": (4096, lambda: stencil(16, 16, 16)),
}
