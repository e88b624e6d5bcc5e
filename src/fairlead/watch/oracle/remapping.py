# SPDX-License-Identifier: Apache-2.0
"""Shares the tasks of a running program out anew, where what the network does now makes it pay."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.decide.placement import COST_OF_OBJECTIVE, DEFAULT_OBJECTIVE, METHODS, place
from fairlead.decide.placement.metric_mapping import estimate_costs, map_by_metric
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.watch.oracle.machine_graph import machine_graph
from fairlead.watch.oracle.network_for_program import network_for_program
from fairlead.watch.oracle.oracle import Oracle

__all__ = ["BY_METRIC", "MOST_TASKS", "OPTIMIZE_S", "RemapQuestion", "Remapped", "remap"]

BY_METRIC = "oracle"
"""Method: ORACLE's mapping. It takes the metric as it is, and its map without judging it; all other
methods place on what the program itself leaves of the network, and move only where it pays."""

MOST_TASKS = 4096
"""Most tasks of one question: `optimize` keeps to its time with so many."""

MOST_SCOTCH_HOSTS = 1024
"""Most hosts for Scotch, whose time grows with their square: 2 s for these and 4,096 tasks."""

MOST_DIMENSIONS = 16
"""Most dimensions of the program's own space."""

OPTIMIZE_S = 0.05
"""Time limit of `optimize`: all ranks wait for it, and the gain is to be much longer. With 5 ms it
found a worse map in four of seven rounds of bench/oracle/torus.py."""

Ints = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class RemapQuestion:
    """A running program of T tasks, one for each process.

    Attributes:
        host_of_process: Where each process runs, length T.
        task_of_process: What it does now; each task once.
        sent: Rows of (sending task, receiving task, bytes in one repeat).
        metric: Metric of the oracle that compares pairs of hosts; for `oracle` also "none".
        method: Name in `fairlead.decide.placement.METHODS`, or `oracle`.
        window_s: Time window of the metric, in seconds, that ends now.
        repeats_left: How often the bytes will be sent from now on; 0: unknown, moves are free.
        move_bytes_of_process: Data of the task of each process.
        least_gain_ratio: Least part of the time on the network that moves have to save.
        coordinates_of_task: In the program's own space, shape (T, D), which only `geometric` uses;
            None: made up from the traffic.
        seed: Where random numbers start.
    """

    host_of_process: Sequence[str]
    task_of_process: Sequence[int]
    sent: Sequence[tuple[int, int, float]]
    metric: str = "stalls"
    method: str = "optimize"
    window_s: float = 60.0
    repeats_left: float = 0.0
    move_bytes_of_process: Sequence[float] | None = None
    least_gain_ratio: float = 0.1
    coordinates_of_task: Sequence[Sequence[float]] | None = None
    seed: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Remapped:
    """The tasks from now on.

    Attributes:
        task_of_process: Task of each process; as before where moving does not pay.
        now_s: Predicted time on the network of a repeat, with the tasks as they are. Like the other
            times `nan` by the method `oracle`, which predicts none.
        then_s: With the new placement that was found, taken or not.
        move_s: Predicted time of moving the data of the tasks that another process would do.
        reason: Why it was taken or not, in a few words.
    """

    task_of_process: Ints
    now_s: float
    then_s: float
    move_s: float
    reason: str


def remap(oracle: Oracle, asked: RemapQuestion) -> Remapped:
    """Find a new placement by what the network does now, and take it if it pays.

    Raises:
        InputError: The question contradicts itself; the message names its field.
        TopologyError: Nothing is known of a pair of hosts that talk.
    """
    _check(asked)
    now = np.array(asked.task_of_process, dtype=np.int64)
    hosts = tuple(dict.fromkeys(asked.host_of_process))
    place_of = {host: index for index, host in enumerate(hosts)}
    host_of_process = np.array([place_of[host] for host in asked.host_of_process])
    if asked.method == BY_METRIC:
        return _map_once(oracle, asked, host_of_process, now)
    host_of_task = np.empty(len(now), dtype=np.int64)
    host_of_task[now] = host_of_process
    network = network_for_program(
        oracle, hosts, _between_bytes(asked, host_of_task, len(hosts)), asked.metric,
        asked.window_s, has_links=asked.method == "optimize",
    )  # fmt: skip
    traffic = _traffic(asked)
    cluster = Cluster(hosts, tuple(np.bincount(host_of_process).tolist()))
    cost = COST_OF_OBJECTIVE[DEFAULT_OBJECTIVE]

    before = Placement(hosts, host_of_task)
    found = place(
        traffic, network, cluster, asked.method,
        time_limit_s=OPTIMIZE_S if asked.method == "optimize" else None,
        start=before if asked.method == "optimize" else None,
        rank_coordinates=asked.coordinates_of_task if asked.method == "geometric" else None,
        seed=asked.seed,
    )  # fmt: skip
    now_s, then_s = (
        float(getattr(evaluate(each, traffic, network), cost)) for each in (before, found)
    )
    then = _tasks(found.host_of_rank, host_of_process, now)
    move_s = _move_s(asked, network, host_of_process, now, then)
    reason = _refusal(asked, now_s, then_s, move_s)
    if np.array_equal(now, then):
        reason = "the tasks are where they should be"
    return Remapped(now if reason else then, now_s, then_s, move_s, reason or "it pays")


def _map_once(oracle: Oracle, asked: RemapQuestion, host_of_process: Ints, now: Ints) -> Remapped:
    """ORACLE's mapping (section III-D): each process is a core; what Scotch finds is taken."""
    weight = machine_graph(oracle, asked.host_of_process, asked.metric, asked.window_s)
    sent_bytes = _traffic(asked).bytes
    core_of_task = map_by_metric(sent_bytes, weight, asked.seed)
    then = _tasks(host_of_process[core_of_task], host_of_process, now)
    before, after = (
        estimate_costs(sent_bytes, weight, np.argsort(tasks)).sum() for tasks in (now, then)
    )
    reason = f"by {asked.metric} the messages cost {after:.4g}, before {before:.4g}"
    return Remapped(then, math.nan, math.nan, math.nan, reason)


def _check(asked: RemapQuestion) -> None:
    num_tasks = len(asked.task_of_process)
    if not 1 <= num_tasks <= MOST_TASKS:
        raise InputError(f"task_of_process: expected 1 to {MOST_TASKS} tasks, got {num_tasks}")
    if sorted(asked.task_of_process) != list(range(num_tasks)):
        raise InputError(f"task_of_process: expected each of 0 to {num_tasks - 1} once")
    for name in ("host_of_process", "move_bytes_of_process"):
        values = getattr(asked, name)
        if values is not None and len(values) != num_tasks:
            raise InputError(f"{name}: expected {num_tasks} values, got {len(values)}")
    for src, dst, size_bytes in asked.sent:
        if not (0 <= src < num_tasks and 0 <= dst < num_tasks):
            raise InputError(f"sent: there is no task {src if src >= num_tasks else dst}")
        if not (math.isfinite(size_bytes) and size_bytes >= 0):
            raise InputError(f"sent: bytes must be finite and >= 0, got {size_bytes}")
    _check_coordinates(asked.coordinates_of_task, num_tasks)
    if any(not 0 <= size < math.inf for size in asked.move_bytes_of_process or ()):
        raise InputError("move_bytes_of_process: every value must be finite and >= 0")
    if asked.method not in (*METHODS, BY_METRIC):
        known = ", ".join((*METHODS, BY_METRIC))
        raise InputError(f"method: unknown {asked.method!r}; there are {known}")
    num_hosts = len(set(asked.host_of_process))
    if asked.method.startswith("scotch") and num_hosts > MOST_SCOTCH_HOSTS:
        raise InputError(
            f"method: {asked.method} maps to at most {MOST_SCOTCH_HOSTS} hosts here, got "
            f"{num_hosts}; optimize takes more"
        )


def _check_coordinates(coordinates: Sequence[Sequence[float]] | None, num_tasks: int) -> None:
    """Check that every task has as many coordinates as the first, all of them finite."""
    if coordinates is None:
        return
    if len(coordinates) != num_tasks:
        raise InputError(
            f"coordinates_of_task: expected {num_tasks} places, got {len(coordinates)}"
        )
    dimensions = len(coordinates[0])
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise InputError(
            f"coordinates_of_task: expected 1 to {MOST_DIMENSIONS} dimensions, got {dimensions}"
        )
    for task, values in enumerate(coordinates):
        if len(values) != dimensions or not all(map(math.isfinite, values)):
            raise InputError(
                f"coordinates_of_task: task {task}: expected {dimensions} finite values, "
                f"got {list(values)!r:.80}"
            )


def _between_bytes(
    asked: RemapQuestion, host_of_task: Ints, num_hosts: int
) -> npt.NDArray[np.float64]:
    """What hosts send one another in a repeat, shape (H, H), [src, dst]."""
    rows = np.array(asked.sent, dtype=np.float64).reshape(-1, 3)
    src, dst = host_of_task[rows[:, :2].astype(np.int64)].T
    between_bytes = np.zeros((num_hosts, num_hosts))
    np.add.at(between_bytes, (src, dst), rows[:, 2])
    return between_bytes


def _traffic(asked: RemapQuestion) -> Traffic:
    num_tasks = len(asked.task_of_process)
    rows = np.array(asked.sent, dtype=np.float64).reshape(-1, 3)
    src, dst = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    shape = (num_tasks, num_tasks)
    sent_bytes = sp.csr_array((rows[:, 2], (src, dst)), shape=shape)
    messages = sp.csr_array((np.ones(len(rows)), (src, dst)), shape=shape)
    return Traffic(sent_bytes, messages)


def _tasks(host_of_task: Ints, host_of_process: Ints, now: Ints) -> Ints:
    """A task for each process on the host of the task.

    A task that stays on its host stays with its process.
    """
    then = np.full(len(now), -1, dtype=np.int64)
    stays = host_of_task[now] == host_of_process
    then[stays] = now[stays]
    for host in np.unique(host_of_process):
        free = np.flatnonzero((host_of_process == host) & ~stays)
        coming = np.setdiff1d(np.flatnonzero(host_of_task == host), now[stays])
        then[free] = coming
    return then


def _move_s(
    asked: RemapQuestion, network: Network, host_of_process: Ints, now: Ints, then: Ints
) -> float:
    """Time until the busiest process has sent or received the data of its task."""
    if asked.move_bytes_of_process is None:
        return 0.0
    process_of_task = np.argsort(then)
    src, dst = host_of_process, host_of_process[process_of_task[now]]
    size_bytes = np.where(now != then, np.array(asked.move_bytes_of_process), 0.0)
    seconds = network.latency_s[src, dst] + size_bytes / network.bandwidth_Bps[src, dst]
    seconds = np.where(now != then, seconds, 0.0)
    # What leaves a host, and what comes to it, goes by one interface.
    leaving, coming = np.bincount(src, seconds), np.bincount(dst, seconds)
    return float(max(leaving.max(), coming.max()))


def _refusal(asked: RemapQuestion, now_s: float, then_s: float, move_s: float) -> str:
    """Why the tasks stay; empty where the move pays."""
    gain_s = now_s - then_s
    if not gain_s > asked.least_gain_ratio * now_s:
        return f"it would save less than {asked.least_gain_ratio:.0%} of the time on the network"
    if asked.repeats_left > 0 and gain_s * asked.repeats_left <= move_s:
        return "moving would take longer than it saves"
    return ""
