# SPDX-License-Identifier: Apache-2.0
"""`optimize` for many jobs: compared with brute force and with the other methods, and repeated."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fairlead as fl
from fairlead import _core
from fairlead.decide.jobs import JOB_METHODS
from fairlead.decide.jobs.methods.optimize import STARTS, best_of, optimize
from fairlead.decide.jobs.methods.problem import JobsProblem
from fairlead.simulation import packaged_workloads

TINY = fl.Machine(nodes=3, sockets=2, cores=1)
FEW_PROPOSALS = 16_000


def job(pattern: str, ranks: int, size: int, rate: float, count: int = 20) -> fl.Job:
    return fl.Job.from_pattern(
        pattern, ranks, message_bytes=size, rate_per_s=rate, num_messages=count
    )


def simulated(workload: fl.Workload, cores: list[np.ndarray]) -> fl.SimulationResult:
    return fl.simulate(workload, fl.JobsPlacement(workload.machine, cores))


def waiting_s(workload: fl.Workload, cores: list[np.ndarray]) -> float:
    return simulated(workload, cores).waiting_time_s


def is_no_later(result: fl.SimulationResult, than: fl.SimulationResult) -> bool:
    return (
        result.finish_time_s <= 1.001 * than.finish_time_s
        and result.total_finish_time_s <= 1.001 * than.total_finish_time_s
    )


def every_placement(workload: fl.Workload) -> Iterator[list[np.ndarray]]:
    """Up to the order of nodes and of the sockets of a node, on a machine with a core a socket."""
    ends = np.cumsum([job.num_ranks for job in workload.jobs])
    free = workload.machine.free_cores()
    seen = set()
    for cores in itertools.permutations(free.tolist(), int(ends[-1])):
        groups: dict[int, list[int]] = {}
        for rank, core in enumerate(cores):
            groups.setdefault(core // workload.machine.cores_per_node, []).append(rank)
        kind = frozenset(tuple(group) for group in groups.values())
        if kind not in seen:
            seen.add(kind)
            yield np.split(np.array(cores), ends[:-1])


@pytest.mark.parametrize(
    "jobs",
    [
        # Interfaces overloaded: 2 MB at 300 a second are 630 MB/s for each pair.
        [job("all_to_all", 3, 2**21, 300.0), job("bcast", 3, 2**21, 300.0)],
        # An incast and a chain with another period.
        [job("gather", 4, 2**20, 100.0), job("linear", 2, 2**19, 250.0, 50)],
        # Bursts only: nothing is overloaded.
        [job("bcast", 3, 2**16, 50.0), job("scatter", 2, 2**18, 50.0)],
        # Ranks that had better stay apart, and one core to spare.
        [job("gather", 3, 2**20, 400.0), job("linear", 2, 2**20, 400.0)],
    ],
    ids=["overload", "incast", "bursts", "spare"],
)
def test_tiny_workloads_get_the_least_waiting_there_is(jobs: list[fl.Job]) -> None:
    workload = fl.Workload("tiny", jobs, TINY)
    spread = fl.simulate(workload, fl.place_jobs(workload, "spread-group"))
    every = [simulated(workload, cores) for cores in every_placement(workload)]
    least_s = min(result.waiting_time_s for result in every if is_no_later(result, spread))
    found = fl.place_jobs(workload, "optimize")
    assert fl.simulate(workload, found).waiting_time_s == pytest.approx(least_s, rel=1e-12)


@pytest.mark.parametrize("name", packaged_workloads())
def test_never_behind_another_method(name: str) -> None:
    workload = fl.Workload.load(name).scaled(0.01)
    found = simulated(workload, optimize(JobsProblem(workload, num_proposals=FEW_PROPOSALS)))
    others = {
        method: fl.simulate(workload, fl.place_jobs(workload, method))
        for method in JOB_METHODS
        if method != "optimize"
    }
    assert found.waiting_time_s <= min(result.waiting_time_s for result in others.values())
    assert is_no_later(found, others["spread-group"])


@pytest.mark.parametrize(
    ("results", "answer"),
    [
        # (waiting, last end, sum of ends) of two starts, then found.
        pytest.param([(4, 10, 20), (9, 10, 20), (3, 10, 20), (2, 10, 20)], 3, id="waits least"),
        pytest.param([(4, 10, 20), (9, 10, 20), (2, 11, 20), (3, 10, 20)], 3, id="ends later"),
        pytest.param([(4, 10, 20), (9, 10, 20), (2, 9, 21), (3, 9, 20)], 3, id="jobs end later"),
        pytest.param([(4, 10, 20), (9, 10, 20), (2, 11, 20)], 0, id="nothing in time is better"),
        pytest.param([(4, 10, 20), (3, 11, 20), (3.5, 9, 9)], 1, id="no longer than any start"),
        pytest.param([(4, 10, 20), (9, 10, 20), (2, 10.001, 20.001)], 2, id="hardly later"),
        pytest.param([(4, 10, 20), (4, 10, 19)], 1, id="equals by their ends"),
    ],
)
def test_waits_least_of_what_is_no_later(
    results: list[tuple[float, float, float]], answer: int
) -> None:
    workload = fl.Workload("t", [job("linear", 2, 1, 1.0)])
    any_result = fl.simulate(workload, fl.place_jobs(workload, "blocked"))
    made = [
        dataclasses.replace(
            any_result, waiting_time_s=waiting, finish_time_s=finish, total_finish_time_s=total
        )
        for waiting, finish, total in results
    ]
    assert best_of(made, 2) == answer


def test_starts_with_every_other_method() -> None:
    others = {method.place for name, method in JOB_METHODS.items() if name != "optimize"}
    assert set(STARTS) >= others


def test_search_finds_more_than_its_starts() -> None:
    workload = fl.Workload.load("Synt_workload_4").scaled(0.01)
    found = optimize(JobsProblem(workload, num_proposals=FEW_PROPOSALS))
    start = fl.place_jobs(workload, "spread-group")
    # Found: 0.45 to 0.5 times, by the seed.
    assert waiting_s(workload, found) < 0.7 * fl.simulate(workload, start).waiting_time_s


def test_taken_cores_stay_free() -> None:
    taken = (0, 1, 2, 5, 11, 12)
    machine = fl.Machine(nodes=4, sockets=2, cores=2, taken=taken)
    workload = fl.Workload("t", [job("all_to_all", 6, 2**21, 50.0)], machine)
    (cores,) = fl.place_jobs(workload, "optimize").core_of_rank
    assert len(set(cores.tolist())) == 6
    assert not set(cores.tolist()) & set(taken)


def test_same_seed_same_answer_with_any_number_of_threads() -> None:
    workload = fl.Workload.load("Synt_workload_4").scaled(0.005)
    answers = [
        np.concatenate(
            optimize(
                JobsProblem(workload, seed=3, num_proposals=FEW_PROPOSALS, num_threads=threads)
            )
        ).tolist()
        for threads in (1, 2, 3, 2)
    ]
    assert answers[0] == answers[1] == answers[2] == answers[3]


def test_another_seed_may_find_another_answer() -> None:
    workload = fl.Workload.load("Synt_workload_4").scaled(0.005)
    one, other = (
        np.concatenate(optimize(JobsProblem(workload, seed=seed, num_proposals=FEW_PROPOSALS)))
        for seed in (0, 1)
    )
    assert one.tolist() != other.tolist()


def test_never_behind_under_other_options_either() -> None:
    workload = fl.Workload.load("Synt_workload_4").scaled(0.01)
    options = fl.SimulationOptions(nic="shared")
    found = optimize(JobsProblem(workload, options=options, num_proposals=FEW_PROPOSALS))
    placement = fl.JobsPlacement(workload.machine, found)
    least_s = min(
        fl.simulate(workload, fl.place_jobs(workload, method), options).waiting_time_s
        for method in JOB_METHODS
        if method != "optimize"
    )
    assert fl.simulate(workload, placement, options).waiting_time_s <= least_s


def test_progress_grows_to_its_end() -> None:
    workload = fl.Workload("t", [job("all_to_all", 6, 2**21, 50.0)], fl.Machine(nodes=2))
    seen: list[tuple[int, int]] = []
    fl.place_jobs(workload, "optimize", on_progress=lambda done, total: seen.append((done, total)))
    assert len({total for _, total in seen}) == 1
    assert seen[-1][0] == seen[-1][1]


OPTIMIZE = "fairlead.decide.jobs.methods.optimize"


def work_of(
    workload: fl.Workload, monkeypatch: pytest.MonkeyPatch, most_messages: float = 1e8
) -> tuple[int, int]:
    """Swaps that the search may try without a time limit, and messages that are simulated."""
    module = importlib.import_module(OPTIMIZE)
    simulate_each, limits_of_search = module.simulate_each, _core.SearchLimits
    messages: list[int] = []
    proposals: list[int] = []

    def counted(*arguments: Any, **options: Any) -> list[fl.SimulationResult]:
        results = simulate_each(*arguments, **options)
        messages.extend(result.num_messages for result in results)
        return results

    def noted(**limits: Any) -> Any:
        proposals.append(limits["num_proposals"])
        return limits_of_search(**limits)

    with monkeypatch.context() as patched:
        patched.setattr(f"{OPTIMIZE}.simulate_each", counted)
        patched.setattr(f"{OPTIMIZE}._core.SearchLimits", noted)
        patched.setattr(f"{OPTIMIZE}.MOST_JUDGED_MESSAGES", most_messages)
        optimize(JobsProblem(workload))
    (num_proposals,) = proposals
    return num_proposals, sum(messages)


def test_without_a_time_limit_the_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def exchange(ranks: int, count: int) -> fl.Workload:
        jobs = [job("all_to_all", ranks, 2**16, 100.0, count)]
        return fl.Workload("t", jobs, fl.Machine(nodes=16, sockets=2, cores=4))

    assert work_of(exchange(8, 10), monkeypatch)[0] == 8 * 3_200
    assert work_of(exchange(100, 10), monkeypatch)[0] == 200_000
    # All that is simulated of a large workload is at most this many messages together.
    num_messages = work_of(exchange(20, 4_000), monkeypatch, most_messages=2e5)[1]
    assert 1e5 < num_messages <= 2e5


def test_a_time_limit_still_gives_a_placement() -> None:
    workload = fl.Workload.load("Real_workload_4")
    placement = fl.place_jobs(workload, "optimize", time_limit_s=0.05)
    assert [len(cores) for cores in placement.core_of_rank] == [25, 32, 32, 32]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time_limit_s": 0.0}, "time limit: must be > 0 s, got 0.0"),
        ({"scale": 0.0}, "scale: must be above 0 and at most 1, got 0.0"),
        ({"num_threads": -1}, "threads: must be >= 0, got -1"),
    ],
)
def test_impossible_limits_are_refused(given: dict[str, float], said: str) -> None:
    workload = fl.Workload("t", [job("linear", 2, 1, 1.0)])
    with pytest.raises(fl.InputError, match=said):
        fl.place_jobs(workload, "optimize", **given)
