# SPDX-License-Identifier: Apache-2.0
"""`spread` against a line-by-line reading of SPREAD's figure 1, and against placements by hand."""

from __future__ import annotations

from fractions import Fraction

import figure_1
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead.decide.jobs.methods.free_nodes import FreeNodes
from fairlead.decide.jobs.methods.spread import DEMANDS, message_class
from fairlead.decide.jobs.methods.thresholds import THRESHOLDS

SMALL = fl.Machine(nodes=4, sockets=2, cores=2)
SIZES = (1, 2048, 2049, 2**20 - 1, 2**20)


def pattern(name: str, ranks: int, size: int = 65536) -> fl.Job:
    return fl.Job.from_pattern(name, ranks, message_bytes=size, rate_per_s=10, num_messages=5)


def recorded(ranks: int, sent: dict[tuple[int, int], tuple[int, int, int]]) -> fl.Job:
    """A job from messages, their mean and their largest size of each pair, in one second."""
    planes = np.zeros((3, ranks, ranks))
    for pair, (number, mean, largest) in sent.items():
        planes[(slice(None), *pair)] = (number * mean, number, largest)
    return fl.Job.from_traffic(fl.Traffic(*planes), 1.0, "recorded")


def placed(machine: fl.Machine, *jobs: fl.Job) -> list[list[int]]:
    placement = fl.place_jobs(fl.Workload("test", jobs, machine), "spread")
    return [cores.tolist() for cores in placement.core_of_rank]


def threshold(machine: fl.Machine, job: fl.Job) -> int:
    return THRESHOLDS["equation_2"](job, FreeNodes(machine))


@st.composite
def jobs_of(draw: st.DrawFn, ranks: int) -> fl.Job:
    pair = st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1))
    messages = st.tuples(st.integers(1, 4), st.sampled_from(SIZES), st.sampled_from(SIZES))
    pairs = draw(st.dictionaries(pair.filter(lambda it: it[0] != it[1]), messages))
    return recorded(ranks, {it: (n, min(a, b), max(a, b)) for it, (n, a, b) in pairs.items()})


@st.composite
def workloads(draw: st.DrawFn) -> fl.Workload:
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 2), st.integers(1, 3)))
    cores = int(np.prod(shape))
    taken = draw(st.sets(st.integers(0, cores - 1), max_size=max(0, cores - 2)))
    machine = fl.Machine(*shape, taken=tuple(taken)) if cores > 1 else SMALL
    left, jobs = len(machine.free_cores()), []
    while left >= 2 and len(jobs) < 3:
        ranks = draw(st.integers(2, left))
        jobs.append(draw(jobs_of(ranks)))
        left -= ranks
    return fl.Workload("random", jobs, machine)


def read_line_by_line(workload: fl.Workload) -> list[list[int]]:
    machine = workload.machine
    free = set(machine.free_cores().tolist())
    sockets = [
        [core for core in range(first, first + machine.cores) if core in free]
        for first in range(0, machine.num_cores, machine.cores)
    ]
    count = machine.sockets
    cluster = [sockets[node * count : (node + 1) * count] for node in range(machine.nodes)]
    jobs = []
    for number, job in enumerate(workload.jobs):
        rows = zip(job.src, job.dst, job.max_message_bytes, job.rate_per_s, strict=True)
        messages = {
            (int(src), int(dst)): figure_1.Messages(int(length), Fraction(float(rate)))
            for src, dst, length, rate in rows
        }
        jobs.append(figure_1.ParallelJob(number, job.num_ranks, messages))
    mapping = figure_1.new_mapping_strategy(jobs, cluster)
    return [mapping[number] for number in range(len(jobs))]


@given(workload=workloads())
def test_is_what_reading_the_figure_line_by_line_gives(workload: fl.Workload) -> None:
    assert placed(workload.machine, *workload.jobs) == read_line_by_line(workload)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_places_the_papers_workloads_as_the_figure_line_by_line(number: int) -> None:
    workload = fl.Workload.load(f"Synt_workload_{number}")
    assert placed(workload.machine, *workload.jobs) == read_line_by_line(workload)


def test_places_two_jobs_as_worked_out_by_hand() -> None:
    # Large messages come first: 4 / 3 neighbours on average fit on a node of 4, so the bcast fills
    # socket 0 of node 0 and one core of socket 1. Of the nodes 1, 4, 4 and 4 cores are left:
    # 7 neighbours > 13 / 4 - 1, so equation 2 limits the all-to-all to 8 * 7 / 7 / 4 = 2 a node.
    # Nodes 1, 2, 3 get two each and node 0 one; then the limit is 4, and node 1 is the first of
    # the emptiest, with a whole socket left.
    bcast, all_to_all = pattern("bcast", 3, 2**21), pattern("all_to_all", 8)
    assert placed(SMALL, all_to_all, bcast) == [[4, 5, 8, 9, 12, 13, 3, 6], [0, 1, 2]]


def test_equation_1_sums_what_a_rank_sends() -> None:
    # 0 sends 4 of at most 300 bytes to 1 and 2 of 50 to 2; 1 sends 5 of 30 to 0; in a second.
    job = recorded(3, {(0, 1): (4, 100, 300), (0, 2): (2, 50, 50), (1, 0): (5, 30, 30)})
    assert DEMANDS["sent"](job.peak_demand_Bps).tolist() == [1300, 150, 0]
    assert DEMANDS["both"](job.peak_demand_Bps).tolist() == [1450, 1350, 100]


def test_a_gathers_root_sends_nothing_and_follows_the_first_leaf() -> None:
    # Leaf 1 comes first, with the root, its only neighbour. No other leaf has a neighbour to
    # place, so each goes to the node that is emptiest then.
    machine = fl.Machine(nodes=3, sockets=1, cores=4)
    assert placed(machine, pattern("gather", 5)) == [[1, 0, 4, 8, 5]]


def test_equation_2_weights_ranks_by_their_neighbours() -> None:
    # A wheel on two nodes of 4 cores: the hub has 7 neighbours, each of the 7 others 3.
    # 28 / 8 > 4 - 1, and (7 / 7 + 7 * 3 / 7) / 2 = 2, where 8 ranks over 2 nodes would be 4.
    rim = [(rank, rank % 7 + 1) for rank in range(1, 8)]
    wheel = recorded(8, {pair: (1, 9, 9) for pair in [*rim, *((0, rank) for rank in range(1, 8))]})
    assert threshold(fl.Machine(nodes=2, sockets=1, cores=4), wheel) == 2


def test_equation_2_is_rounded_down_and_at_least_1() -> None:
    machine = fl.Machine(nodes=4, sockets=1, cores=3)
    assert threshold(machine, pattern("all_to_all", 7)) == 1  # 7 / 4
    assert threshold(machine, pattern("all_to_all", 8)) == 2  # 8 / 4
    assert threshold(fl.Machine(nodes=4, sockets=1, cores=1), pattern("all_to_all", 3)) == 1


def test_there_is_no_threshold_where_neighbours_just_fit() -> None:
    # 3 neighbours <= 4 cores - 1, 4 are more.
    machine = fl.Machine(nodes=2, sockets=2, cores=2)
    assert threshold(machine, pattern("all_to_all", 4)) == 4
    assert threshold(machine, pattern("all_to_all", 5)) == 2


@pytest.mark.parametrize(
    ("largest", "expected"), [(2**20, 0), (2**20 - 1, 1), (2049, 1), (2048, 2), (1, 2)]
)
def test_a_jobs_class_is_that_of_its_largest_message(largest: int, expected: int) -> None:
    # Section 4: 1 MB or higher is large, 2 KB or less is small.
    assert message_class(recorded(3, {(0, 1): (2, 1, largest), (1, 2): (9, 1, 1)})) == expected


def test_neighbours_without_room_go_to_the_next_node_together() -> None:
    # A root and 7 leaves on nodes of 4: no threshold, so the job fills two nodes like blocked.
    assert placed(SMALL, pattern("bcast", 8)) == [[0, 1, 2, 3, 4, 5, 6, 7]]
