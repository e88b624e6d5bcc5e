# SPDX-License-Identifier: Apache-2.0
"""Other readings of SPREAD's figure 1: by hand, and the gains that another program computed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead.decide.jobs.methods.growth import GROWTH
from fairlead.decide.jobs.methods.spread import SpreadOptions, spread_by

BASELINES = ("blocked", "cyclic")
ANOTHER = SpreadOptions(demand="both", overflow="own_turn")
"""As another program, written from the paper by somebody else, reads the figure."""


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
def test_gains_what_another_program_gains(name: str, expected: float) -> None:
    assert gain(fl.Workload.load(name), ANOTHER, 0.05) == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Real_workload_1", 0.625),
        ("Real_workload_3", 0.033),
        ("Real_workload_4", -0.476),
    ],
)
def test_gains_the_same_of_recordings_by_mean_lengths(name: str, expected: float) -> None:
    # The other program took mean lengths, and let rounding errors decide between equal ranks. In
    # Real 2 its best baseline is its own DRB.
    found = gain(fl.Workload.load(name), dataclasses.replace(ANOTHER, length="mean"), 1.0)
    assert found == pytest.approx(expected, abs=0.02)


def test_equation_2_counts_full_nodes_too() -> None:
    # 8 ranks of 7 neighbours each over 4 nodes, two of them full: 2, and 4 when both hold 2.
    machine = fl.Machine(nodes=4, sockets=2, cores=2, taken=tuple(range(8, 16)))
    (nodes,) = nodes_of(machine, job("all_to_all", 8))
    assert nodes == [0, 0, 1, 1, 0, 0, 1, 1]
    (nodes,) = nodes_of(machine, job("all_to_all", 8), threshold="even")
    assert nodes == [0, 0, 0, 0, 1, 1, 1, 1]


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


@pytest.mark.parametrize(
    ("growth", "demand", "nodes"),
    [
        ("seed", "sent", [0, 0, 1, 1]),
        ("seed", "both", [0, 0, 0, 1]),
        ("group", "sent", [0, 0, 0, 0]),
        ("group", "both", [0, 0, 0, 0]),
    ],
)
def test_a_chain_follows_its_seed_by_growth_and_demand(
    growth: str, demand: str, nodes: list[int]
) -> None:
    # 0 -> 1 -> 2 -> 3: ranks 0 to 2 send the same; ranks 1 and 2 communicate most.
    machine = fl.Machine(nodes=4, sockets=2, cores=2)
    assert nodes_of(machine, job("linear", 4), growth=growth, demand=demand) == [nodes]


@pytest.mark.parametrize(
    ("overflow", "nodes"), [("next_node", [0, 0, 1, 1, 2]), ("own_turn", [0, 0, 1, 2, 3])]
)
def test_neighbours_without_room_go_on_together_or_at_their_own_turn(
    overflow: str, nodes: list[int]
) -> None:
    # A root and 4 leaves on nodes of 2 cores, where the limit does not count.
    machine = fl.Machine(nodes=5, sockets=1, cores=2)
    assert nodes_of(machine, job("bcast", 5), overflow=overflow, threshold="none") == [nodes]


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 4)).filter(
            lambda pair: pair[0] != pair[1]
        ),
        min_size=1,
    ),
    options=st.builds(
        SpreadOptions,
        threshold=st.sampled_from(["equation_2", "needed", "none"]),
        growth=st.sampled_from(list(GROWTH)),
        demand=st.just("both"),
        overflow=st.just("own_turn"),
    ),
    taken=st.sets(st.integers(0, 15), max_size=8),
)
def test_the_other_reading_is_what_it_gives_on_dense_matrices(
    pairs: list[tuple[int, int, int]], options: SpreadOptions, taken: set[int]
) -> None:
    sent = np.zeros((8, 8))
    for src, dst, number in pairs:
        sent[src, dst] = number
    machine = fl.Machine(nodes=4, sockets=2, cores=2, taken=tuple(taken))
    recorded = fl.Job.from_traffic(fl.Traffic(sent * 64, sent, (sent > 0) * 64.0), 1.0, "random")
    assert nodes_of(machine, recorded, **vars(options)) == [plainly(sent * 64, machine, options)]


def plainly(sent: np.ndarray, machine: fl.Machine, options: SpreadOptions) -> list[int]:
    """One job on dense matrices, without sockets."""
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
