# SPDX-License-Identifier: Apache-2.0
"""What is measured of an MPI's own algorithms, and in which orders of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.tuning_files import TUNING_FILES
from fairlead.flows.tune.flow import TuneRequest
from fairlead.flows.tune.native import native_calls, ring_order, time_native
from fairlead.measure.collective_times import CollectiveTimes, NativeAlgorithm, TimedCall

HOSTS = ("a", "b", "c", "d")
PLACEMENT = fl.Placement(HOSTS, np.array([0, 0, 1, 1, 2, 2, 3, 3]))
ORDER = (0, 1, 4, 5, 2, 3, 6, 7)
CALL = TimedCall("bcast", 65536, tuple(range(8)))
OMPI = TUNING_FILES["ompi"]


class Program:
    """An MPI in which each algorithm has its time, half of it in the other order."""

    def __init__(self, time_of: dict[str, float], other_order: float = 1.0) -> None:
        self.time_of, self.other_order = time_of, other_order
        self.calls: list[Sequence[NativeAlgorithm]] = []

    def time(
        self,
        call: TimedCall,
        _schedules: object,
        algorithms: Sequence[NativeAlgorithm],
        **options: Any,
    ) -> CollectiveTimes:
        self.calls.append(algorithms)
        times = [1.0]
        for algorithm in algorithms:
            name = algorithm.settings.get(f"coll_tuned_{call.operation}_algorithm", "own")
            times.append(
                self.time_of.get(name, 5.0) * (self.other_order if algorithm.order else 1.0)
            )
        rounds = options.get("min_rounds", 8)
        # nan: the MPI does not have this algorithm.
        return CollectiveTimes([np.isfinite(one) for one in times], np.array([times] * rounds))


def found(time_of: dict[str, float], other_order: float = 1.0) -> Any:
    program: Any = Program({"own": 1.0, **time_of}, other_order)
    return time_native(CALL, program, OMPI, ORDER, 1.0)


def test_order_of_a_ring_stays_with_rank_0_and_keeps_racks_together() -> None:
    rack = np.array([0, 1, 0, 1])
    is_near = rack[:, None] == rack
    rates_Bps = np.where(np.eye(4), np.inf, np.where(is_near, 1e8, 1e6))
    network = fl.Network(HOSTS, np.where(np.eye(4), 0.0, 1e-5), rates_Bps)

    order = ring_order(network, PLACEMENT)

    assert order[0] == 0
    assert [PLACEMENT.host_of_rank[rank] % 2 for rank in order] in (
        [0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 1, 0, 0],
    )


def test_best_algorithm_of_each_order_is_measured_again() -> None:
    program: Any = Program({"own": 1.0, "binomial": 0.5, "chain": 0.7})

    time_native(CALL, program, OMPI, ORDER, 1.0)

    pilot, again = program.calls
    assert len(pilot) == 2 * len(OMPI.algorithms("bcast", 8, 65536))
    binomial = {"coll_tuned_bcast_algorithm": "binomial"}
    assert again == [
        NativeAlgorithm(order=ORDER),
        NativeAlgorithm(binomial),
        NativeAlgorithm(binomial, ORDER),
    ]


def test_own_choice_is_kept_with_the_best_algorithms() -> None:
    times_s = found({"binomial": 0.5}, other_order=0.4).times_s

    assert times_s[0].tolist() == [1.0, 0.5, 0.4, 0.2]


def test_algorithm_that_the_mpi_does_not_have_is_passed_over() -> None:
    assert found({"binomial": float("nan"), "chain": 0.7}).names == ("chain", "chain")


def test_operations_without_a_choice_are_left_out() -> None:
    request = TuneRequest(
        8, fl.Cluster.uniform(HOSTS, slots=2), operations=("barrier", "bcast"), sizes=(65536,)
    )

    assert native_calls(request, OMPI) == [CALL]


def test_operations_without_any_choice_are_refused() -> None:
    with pytest.raises(fl.InputError, match="--export ompi: there are no algorithms to choose: b"):
        native_calls(
            TuneRequest(8, fl.Cluster.uniform(HOSTS, slots=2), operations=("barrier",)), OMPI
        )
