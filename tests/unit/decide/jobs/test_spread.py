# SPDX-License-Identifier: Apache-2.0
"""SPREAD's figure 1: its steps by hand, and the gains that another program of it computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead.decide.jobs.methods.growth import GROWTH
from fairlead.decide.jobs.methods.spread import SpreadOptions, spread_by

BASELINES = ("blocked", "cyclic", "drb")


def job(pattern: str, ranks: int) -> fl.Job:
    return fl.Job.from_pattern(pattern, ranks, message_bytes=65536, rate_per_s=10, num_messages=5)


def nodes_of(machine: fl.Machine, *jobs: fl.Job, **options: str) -> list[list[int]]:
    workload = fl.Workload("test", jobs, machine)
    placed = spread_by(workload, SpreadOptions(**options))
    return [machine.node_of_core(cores).tolist() for cores in placed]


def gain(workload: fl.Workload, options: SpreadOptions, scale: float) -> float:
    placements = [fl.place_jobs(workload, method) for method in BASELINES]
    placements.append(fl.JobsPlacement(workload.machine, spread_by(workload, options)))
    waiting_s = [fl.simulate(workload, it, scale=scale).waiting_time_s for it in placements]
    return 1 - waiting_s[-1] / min(waiting_s[:-1])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Synt_workload_1", 0.040),
        ("Synt_workload_2", 0.025),
        ("Synt_workload_3", 0.233),
        ("Synt_workload_4", 0.758),
    ],
)
def test_gains_what_the_literal_algorithm_gains(name: str, expected: float) -> None:
    assert gain(fl.Workload.load(name), SpreadOptions(), 0.05) == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Real_workload_1", 0.625),
        ("Real_workload_2", -0.011),
        ("Real_workload_3", 0.033),
        ("Real_workload_4", -0.476),
    ],
)
def test_gains_the_same_of_recordings_by_mean_lengths(name: str, expected: float) -> None:
    # The other program took mean lengths, and let rounding errors decide between equal ranks.
    found = gain(fl.Workload.load(name), SpreadOptions(length="mean"), 1.0)
    assert found == pytest.approx(expected, abs=0.02)


def test_equation_2_counts_ranks_by_their_share_of_the_most_neighbours() -> None:
    # A chain of 8 on 4 nodes of 2 cores: the sum of Adj_i / Adj_max is 6 + 2 / 2 = 7, over 4 nodes
    # 1. Ranks 1 to 6 come first, one a node; then the limit is 2, and rank 5 begins again.
    (nodes,) = nodes_of(fl.Machine(nodes=4, sockets=1, cores=2), job("linear", 8))
    assert nodes == [2, 0, 1, 2, 3, 0, 1, 3]


def test_equation_2_counts_full_nodes_too() -> None:
    # 8 ranks of 7 neighbours each over 4 nodes, two of them full: 2, and 4 when both hold 2.
    machine = fl.Machine(nodes=4, sockets=2, cores=2, taken=tuple(range(8, 16)))
    (nodes,) = nodes_of(machine, job("all_to_all", 8))
    assert nodes == [0, 0, 1, 1, 0, 0, 1, 1]
    (nodes,) = nodes_of(machine, job("all_to_all", 8), threshold="even")
    assert nodes == [0, 0, 0, 0, 1, 1, 1, 1]


def test_equation_2_is_1_where_it_gives_0() -> None:
    # 3 ranks of 2 neighbours over 4 nodes with a core each.
    (nodes,) = nodes_of(fl.Machine(nodes=4, sockets=1, cores=1), job("all_to_all", 3))
    assert nodes == [0, 1, 2]


def test_equation_1_takes_the_largest_message_of_a_recording() -> None:
    # Ranks 0 and 1 exchange more bytes in all, ranks 2 and 3 the largest message.
    messages, largest = np.zeros((4, 4)), np.zeros((4, 4))
    messages[0, 1], messages[2, 3] = 10, 5
    largest[0, 1], largest[2, 3] = 100, 900
    traffic = fl.Traffic(messages * 100, messages, largest)
    recorded = fl.Job.from_traffic(traffic, 1.0, "two pairs")
    machine = fl.Machine(nodes=2, sockets=1, cores=2)
    assert nodes_of(machine, recorded) == [[1, 1, 0, 0]]
    assert nodes_of(machine, recorded, length="mean") == [[0, 0, 1, 1]]


def test_equation_1_takes_the_mean_where_no_largest_message_was_recorded() -> None:
    messages = np.array([[0, 4.0], [0, 0]])
    recorded = fl.Job.from_traffic(fl.Traffic(messages * 50, messages), 1.0, "old trace")
    assert recorded.max_message_bytes.tolist() == [50]


@pytest.mark.parametrize(("growth", "nodes"), [("seed", [0, 0, 0, 1]), ("group", [0, 0, 0, 0])])
def test_step_3_9_grows_by_the_seeds_own_neighbours(growth: str, nodes: list[int]) -> None:
    # 0 -> 1 -> 2 -> 3: the seed is rank 1, whose neighbours are 0 and 2.
    machine = fl.Machine(nodes=4, sockets=2, cores=2)
    assert nodes_of(machine, job("linear", 4), growth=growth) == [nodes]


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 4)).filter(
            lambda pair: pair[0] != pair[1]
        ),
        min_size=1,
    ),
    options=st.builds(
        SpreadOptions,
        st.sampled_from(["equation_2", "needed", "none"]),
        st.sampled_from(list(GROWTH)),
        st.just("largest"),
    ),
    taken=st.sets(st.integers(0, 15), max_size=8),
)
def test_is_what_a_plain_reading_of_the_figure_gives(
    pairs: list[tuple[int, int, int]], options: SpreadOptions, taken: set[int]
) -> None:
    sent = np.zeros((8, 8))
    for src, dst, number in pairs:
        sent[src, dst] = number
    machine = fl.Machine(nodes=4, sockets=2, cores=2, taken=tuple(taken))
    recorded = fl.Job.from_traffic(fl.Traffic(sent * 64, sent, (sent > 0) * 64.0), 1.0, "random")
    assert nodes_of(machine, recorded, **vars(options)) == [plainly(sent * 64, machine, options)]


def plainly(sent: np.ndarray, machine: fl.Machine, options: SpreadOptions) -> list[int]:
    """Figure 1 for one job on dense matrices, without sockets."""
    mutual = sent + sent.T
    free = np.bincount(machine.free_cores() // machine.cores_per_node, minlength=machine.nodes)
    adjacent = np.count_nonzero(mutual, axis=1)
    limit = step = len(sent)
    if options.threshold != "none" and adjacent.mean() > free[free > 0].mean() - 1:
        over = np.count_nonzero(free) if options.threshold == "needed" else machine.nodes
        parts = len(sent) if options.threshold == "needed" else (adjacent / adjacent.max()).sum()
        limit = step = max(1, int(parts / over + 1e-9))
    node_of_rank = np.full(len(sent), -1)
    held = np.zeros(machine.nodes, dtype=int)
    for seed in sorted(range(len(sent)), key=lambda rank: -mutual[rank].sum()):
        if node_of_rank[seed] >= 0:
            continue
        while not np.any((held < limit) & (free > 0)):
            limit += step
        node = int(np.argmax(np.where(held < limit, free, 0)))
        group, follower = [seed], seed
        while follower >= 0:
            node_of_rank[follower] = node
            free[node] -= 1
            held[node] += 1
            near = mutual[group].sum(axis=0) if options.growth == "group" else mutual[seed].copy()
            near[node_of_rank >= 0] = 0
            follower = int(near.argmax()) if near.any() else -1
            if follower < 0 or held[node] >= limit or free[node] == 0:
                break
            group.append(follower)
    return node_of_rank.tolist()
