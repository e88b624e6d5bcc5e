# SPDX-License-Identifier: Apache-2.0
"""Methods for many jobs: known placements, and what holds for all of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead.decide.jobs import JOB_METHODS
from fairlead.decide.jobs.methods.growth import GROWTH
from fairlead.decide.jobs.methods.spread import SpreadOptions, spread_by
from fairlead.decide.jobs.methods.thresholds import THRESHOLDS
from fairlead.simulation import PATTERNS

SMALL = fl.Machine(nodes=4, sockets=2, cores=2)


def job(pattern: str, ranks: int, size: int = 65536, rate: float = 10.0) -> fl.Job:
    return fl.Job.from_pattern(pattern, ranks, message_bytes=size, rate_per_s=rate, num_messages=5)


def placed(method: str, *jobs: fl.Job, machine: fl.Machine = SMALL) -> list[list[int]]:
    placement = fl.place_jobs(fl.Workload("test", jobs, machine), method)
    return [cores.tolist() for cores in placement.core_of_rank]


def spread(*jobs: fl.Job, machine: fl.Machine = SMALL, **options: str) -> list[list[int]]:
    placed = spread_by(fl.Workload("test", jobs, machine), SpreadOptions(**options))
    return [(cores // machine.cores_per_node).tolist() for cores in placed]


@st.composite
def workloads(draw: st.DrawFn) -> fl.Workload:
    machine = fl.Machine(*(draw(st.integers(1, 4)) for _ in range(3)))
    cores = machine.num_cores
    taken = draw(st.sets(st.integers(0, cores - 1), max_size=max(0, cores - 2)))
    machine = fl.Machine(machine.nodes, machine.sockets, machine.cores, taken=tuple(taken))
    left = cores - len(taken)
    if left < 2:
        machine, left = fl.Machine(2, 1, 1), 2
    jobs = []
    while left >= 2 and (not jobs or draw(st.booleans())):
        ranks = draw(st.integers(2, left))
        size = draw(st.sampled_from([100, 4096, 2**21]))
        jobs.append(job(draw(st.sampled_from(list(PATTERNS))), ranks, size))
        left -= ranks
    return fl.Workload("random", jobs, machine)


@pytest.mark.parametrize("method", JOB_METHODS)
@given(workload=workloads())
def test_every_rank_gets_a_free_core_of_its_own(method: str, workload: fl.Workload) -> None:
    placement = fl.place_jobs(workload, method)  # JobsPlacement refuses anything else
    assert [len(cores) for cores in placement.core_of_rank] == [
        job.num_ranks for job in workload.jobs
    ]


@pytest.mark.parametrize("method", JOB_METHODS)
def test_same_seed_same_placement(method: str) -> None:
    workload = fl.Workload.load("Synt_workload_4").scaled(0.001)
    one, other = (fl.place_jobs(workload, method, seed=7) for _ in range(2))
    for a, b in zip(one.core_of_rank, other.core_of_rank, strict=True):
        assert a.tolist() == b.tolist()


def test_blocked_fills_node_after_node() -> None:
    assert placed("blocked", job("linear", 6), job("linear", 3)) == [[0, 1, 2, 3, 4, 5], [6, 7, 8]]


def test_cyclic_goes_on_where_the_last_job_ended() -> None:
    first, second = placed("cyclic", job("linear", 6), job("linear", 3))
    assert first == [0, 4, 8, 12, 1, 5]
    assert second == [9, 13, 2]


def test_cyclic_passes_over_taken_cores() -> None:
    machine = fl.Machine(nodes=2, sockets=1, cores=3, taken=(0, 1))
    assert placed("cyclic", job("linear", 4), machine=machine) == [[2, 3, 4, 5]]


@pytest.mark.parametrize("taken", [(), (2, 3)])
def test_drb_keeps_communicating_pairs_on_one_node(taken: tuple[int, ...]) -> None:
    # Ranks 0 and 3 talk, and ranks 1 and 2; there are two nodes of two free cores.
    pairs = np.array([[0, 0, 0, 9.0], [0, 0, 9.0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    talking = fl.Job.from_traffic(fl.Traffic(pairs * 1000, pairs), 1.0, "pairs")
    machine = fl.Machine(nodes=3 if taken else 2, sockets=1, cores=2, taken=taken)
    (cores,) = placed("drb", talking, machine=machine)
    assert cores[0] // 2 == cores[3] // 2
    assert cores[1] // 2 == cores[2] // 2


def test_drb_uses_the_cores_that_are_free() -> None:
    machine = fl.Machine(nodes=2, sockets=2, cores=2, taken=(0, 1, 4, 6))
    (cores,) = placed("drb", job("all_to_all", 4), machine=machine)
    assert sorted(cores) == [2, 3, 5, 7]


def test_spread_deals_evenly_where_neighbours_do_not_fit_on_a_node() -> None:
    # 7 neighbours > 4 cores - 1: 8 ranks over 4 nodes.
    (nodes,) = spread(job("all_to_all", 8))
    assert np.bincount(nodes).tolist() == [2, 2, 2, 2]


def test_spread_keeps_a_job_together_where_neighbours_fit() -> None:
    (nodes,) = spread(job("bcast", 4))
    assert len(set(nodes)) == 1


def test_spread_without_threshold_fills_nodes() -> None:
    (nodes,) = spread(job("all_to_all", 8), threshold="none")
    assert np.bincount(nodes).tolist() == [4, 4]


def test_spread_raises_the_threshold_by_itself_when_all_nodes_are_at_it() -> None:
    # 9 ranks on 4 nodes: 2 each, and for the last one the limit becomes 4.
    (nodes,) = spread(job("all_to_all", 9))
    assert sorted(np.bincount(nodes).tolist()) == [2, 2, 2, 3]


def test_spread_rounds_the_threshold_down_but_not_to_nothing() -> None:
    # 5 ranks over 4 nodes is 1 each; 3 ranks over 4 nodes would be none.
    (nodes,) = spread(job("all_to_all", 5), threshold="even")
    assert sorted(np.bincount(nodes).tolist()) == [1, 1, 1, 2]
    (nodes,) = spread(job("all_to_all", 3), threshold="even")
    assert sorted(nodes) == [0, 1, 2]


def test_spread_averages_over_nodes_with_a_free_core_only() -> None:
    # Nodes 2 and 3 are full; the others have 4 free cores, so 3 neighbours fit. Over all four
    # nodes the average would be 2, and the job dealt out.
    machine = fl.Machine(nodes=4, sockets=2, cores=2, taken=tuple(range(8, 16)))
    (nodes,) = spread(job("all_to_all", 4), machine=machine)
    assert nodes == [0, 0, 0, 0]


def test_spread_takes_large_messages_first_then_many_neighbours() -> None:
    # The first job placed gets node 0.
    small, dense, large = job("bcast", 3), job("all_to_all", 3), job("bcast", 3, 2**20)
    nodes = spread(small, dense, large)
    assert [nodes[index][0] for index in (2, 1, 0)] == [0, 1, 2]


def test_spread_counts_the_largest_message_of_a_job() -> None:
    sent = np.zeros((3, 3))
    sent[0, 1] = sent[0, 2] = 10
    largest = np.where(sent > 0, 2.0**20, 0)
    mixed = fl.Job.from_traffic(fl.Traffic(sent * 100, sent, largest), 1.0, "mixed")
    nodes = spread(job("all_to_all", 3, 4096), mixed)
    assert [nodes[index][0] for index in (1, 0)] == [0, 1]


def test_spread_begins_with_the_rank_that_communicates_most() -> None:
    # Rank 2 exchanges most, and next with rank 0; the machine takes two ranks a node.
    sent = np.zeros((4, 4))
    sent[0, 2], sent[2, 3], sent[1, 2] = 50, 30, 20
    chatty = fl.Job.from_traffic(fl.Traffic(sent * 100, sent), 1.0, "chatty")
    machine = fl.Machine(nodes=2, sockets=1, cores=2)
    (nodes,) = spread(chatty, machine=machine, threshold="none")
    assert nodes == [0, 1, 0, 1]


def test_spread_chooses_the_node_and_then_the_socket_with_most_free_cores() -> None:
    machine = fl.Machine(nodes=2, sockets=2, cores=2, taken=(0, 4, 5))
    (cores,) = spread_by(fl.Workload("t", [job("linear", 2)], machine), SpreadOptions())
    assert cores.tolist() == [2, 3]


def test_spread_places_a_job_that_sends_nothing() -> None:
    silent = fl.Job.from_traffic(fl.Traffic(np.zeros((4, 4)), np.zeros((4, 4))), 1.0, "ep")
    for threshold in THRESHOLDS:
        for growth in GROWTH:
            (nodes,) = spread(silent, threshold=threshold, growth=growth)
            assert len(nodes) == 4


@pytest.mark.parametrize("rate", ["nic_Bps", "memory_Bps"])
def test_drb_takes_a_machine_whose_rates_lie_far_apart(rate: str) -> None:
    machine = dataclasses.replace(SMALL, **{rate: 1.0})
    (nodes,) = placed("drb", job("all_to_all", 4), machine=machine)
    assert len(nodes) == 4


def test_unknown_names_are_refused() -> None:
    workload = fl.Workload("test", [job("linear", 2)], SMALL)
    with pytest.raises(fl.InputError, match="method: unknown name 'best'; there are blocked"):
        fl.place_jobs(workload, "best")
    with pytest.raises(fl.InputError, match="seed: must be from 0 to 4294967295, got 4294967296"):
        fl.place_jobs(workload, "drb", seed=2**32)
    with pytest.raises(fl.InputError, match="threshold: unknown 'x'; there are equation_2"):
        SpreadOptions(threshold="x")


def test_a_placement_refuses_cores_used_twice_or_taken() -> None:
    machine = fl.Machine(nodes=1, sockets=1, cores=4, taken=(3,))
    with pytest.raises(fl.TopologyError, match="core 1 has more than one rank"):
        fl.JobsPlacement(machine, [np.array([0, 1]), np.array([1, 2])])
    for core in (3, 4, -1):
        with pytest.raises(fl.TopologyError, match=f"core {core} is taken or not in the machine"):
            fl.JobsPlacement(machine, [np.array([0, core])])
