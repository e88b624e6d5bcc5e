# SPDX-License-Identifier: Apache-2.0
"""SPREAD's figure 1 read line by line, in plain Python; functions have the names of its steps.

Written from the text alone and slow on purpose. Numbers are exact fractions, so that equal demands
are equal. What the text leaves open is decided as docs/design/spread.md says: ties go to the lower
number, processes of a node share a socket while it has cores, and a threshold that leaves no node
is raised by itself.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

LENGTHS = ("high", "medium", "small")
KB, MB = 1024, 1024 * 1024


@dataclasses.dataclass
class Messages:
    """From one process to another: the largest length in bytes, and messages a second."""

    length: int
    rate: Fraction


@dataclasses.dataclass
class ParallelJob:
    """Processes 0 to P - 1, and what each pair (i, j) sends."""

    number: int
    num_processes: int
    messages: dict[tuple[int, int], Messages]

    def adjacent(self, process: int) -> list[int]:
        pairs = [pair for pair in self.messages if process in pair]
        return sorted({other for pair in pairs for other in pair if other != process})

    def adj(self, process: int) -> int:
        return len(self.adjacent(process))

    def adj_avg(self) -> Fraction:
        return Fraction(sum(map(self.adj, range(self.num_processes))), self.num_processes)

    def length(self) -> str:
        largest = max((sent.length for sent in self.messages.values()), default=0)
        return "high" if largest >= MB else "small" if largest <= 2 * KB else "medium"

    def sent(self, i: int, j: int) -> Fraction:
        messages = self.messages.get((i, j))
        return messages.length * messages.rate if messages else Fraction(0)

    def communication_demand(self, i: int) -> Fraction:
        """Equation 1."""
        return sum((self.sent(i, j) for j in range(self.num_processes) if j != i), Fraction(0))


Cluster = list[list[list[int]]]
"""Free cores of each socket of each node."""


def new_mapping_strategy(jobs: list[ParallelJob], cluster: Cluster) -> dict[int, list[int]]:
    """Steps 1 to 7: the core of each process of each job."""
    mapping: dict[int, list[int]] = {}
    for length in LENGTHS:
        job_pool = select_jobs(jobs, length)
        sort_jobs(job_pool)
        while job_pool:
            crnt_job = job_pool.pop(0)
            mapping[crnt_job.number] = map_job(crnt_job, cluster)
    return mapping


def select_jobs(jobs: list[ParallelJob], length: str) -> list[ParallelJob]:
    return [job for job in jobs if job.length() == length]


def sort_jobs(job_pool: list[ParallelJob]) -> None:
    job_pool.sort(key=lambda job: (-job.adj_avg(), job.number))


def map_job(job: ParallelJob, cluster: Cluster) -> list[int]:
    """Steps 3.2 to 3.9, the latter for each process that is not mapped yet."""
    state = Mapping(job, cluster, find_threshold(job, cluster))
    for process in sort_process(job):
        if process in state.core:
            continue
        state.open_node(process)
        state.map_adj_processes(sort_adj(job, process))
    return [state.core[process] for process in range(job.num_processes)]


def find_threshold(job: ParallelJob, cluster: Cluster) -> int | None:
    """Step 3.2 and equation 2."""
    free = [count for count in map(count_free, cluster) if count]
    if job.adj_avg() <= Fraction(sum(free), len(free)) - 1:
        return None
    adj_max = max(map(job.adj, range(job.num_processes)))
    weights = [Fraction(job.adj(process), adj_max) for process in range(job.num_processes)]
    return math.floor(sum(weights) / len(cluster)) or 1


def count_free(node: list[list[int]]) -> int:
    return sum(map(len, node))


def sort_process(job: ParallelJob) -> list[int]:
    return sorted(range(job.num_processes), key=lambda i: (-job.communication_demand(i), i))


def sort_adj(job: ParallelJob, process: int) -> list[int]:
    def between(other: int) -> Fraction:
        return job.sent(process, other) + job.sent(other, process)

    return sorted(job.adjacent(process), key=lambda other: (-between(other), other))


class Mapping:
    """Where the processes of one job are, and the node and socket that are in use."""

    def __init__(self, job: ParallelJob, cluster: Cluster, threshold: int | None) -> None:
        self.job, self.cluster = job, cluster
        self.core: dict[int, int] = {}
        self.held = [0] * len(cluster)
        self.step = self.threshold = threshold or job.num_processes
        self.node = self.socket = 0

    def select_node(self) -> int:
        """The node with most free cores, of those below the threshold."""
        while True:
            nodes = [node for node in range(len(self.cluster)) if self.has_room(node)]
            if nodes:
                return max(nodes, key=lambda node: (count_free(self.cluster[node]), -node))
            self.threshold += self.step

    def has_room(self, node: int) -> bool:
        return self.held[node] < self.threshold and count_free(self.cluster[node]) > 0

    def select_socket(self) -> int:
        sockets = self.cluster[self.node]
        return max(range(len(sockets)), key=lambda socket: (len(sockets[socket]), -socket))

    def map_process(self, process: int, socket: int) -> None:
        self.core[process] = self.cluster[self.node][socket].pop(0)
        self.held[self.node] += 1

    def open_node(self, process: int) -> None:
        """Steps 3.5 to 3.7."""
        self.node = self.select_node()
        self.socket = self.select_socket()
        self.map_process(process, self.socket)

    def map_adj_processes(self, adjacent: list[int]) -> None:
        """Step 3.9: on the node of the process, and what has no room there on other nodes."""
        for other in adjacent:
            if other in self.core:
                continue
            if not self.has_room(self.node):
                self.open_node(other)
                continue
            has_core = bool(self.cluster[self.node][self.socket])
            self.map_process(other, self.socket if has_core else self.select_socket())
