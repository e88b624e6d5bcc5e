# SPDX-License-Identifier: Apache-2.0
"""Collectives are timed by two real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.decide.collectives import OPERATIONS, methods_for
from fairlead.decide.collectives.candidates import candidates
from fairlead.measure.collective_times import NativeAlgorithm, TimedCall, TuningProgram

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]

HOSTS = ("a", "b", "c")
NETWORK = fl.Network(
    HOSTS,
    np.where(np.eye(3), 0, 1e-4),
    np.where(np.eye(3), np.inf, 1e8 + np.arange(9).reshape(3, 3)),
    # c is in another rack.
    groups=[fl.BottleneckGroup(np.array([(0, 2), (1, 2)]), 1e8)],
)
LONG_BYTES = 70_000
"""Longer than each fixed size of segments."""
TWO_LEVEL = ("allgather", "allreduce", "reduce_scatter")


def program(launcher: Launcher, **env: str) -> TuningProgram:
    # Ranks that wait leave the processor to others.
    env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    if launcher.family == "openmpi" and launcher.version[0] == 4:
        # It recognises shared memory by the machine's name, which all invented hosts have.
        env["OMPI_MCA_btl"] = "tcp,self"
    cluster = fl.Cluster.uniform(HOSTS, slots=2)
    # Ranks of a host do not follow one another.
    placement = fl.Placement(HOSTS, np.array([0, 1, 2, 1, 0]))
    return TuningProgram(launcher, cluster, placement, env=env)


def test_every_schedule_of_every_operation_delivers_what_it_has_to(launcher: Launcher) -> None:
    with program(launcher) as running:
        for operation in OPERATIONS:
            call = TimedCall(operation, LONG_BYTES, (0, 1, 2, 3, 4), root=2)
            root = 2 if operation in ("bcast", "reduce", "gather", "scatter") else None
            schedules = candidates(operation, NETWORK, LONG_BYTES, [2, 2, 1], root, most=9)

            times = running.time(call, schedules, time_s=0.0, min_rounds=1, max_rounds=1)

            methods = {schedule.method for schedule in schedules}
            assert methods <= {*methods_for(operation)}
            assert ("two_level" in methods) == (operation in TWO_LEVEL)
            has_fixed_segments = bool({"forest_8k", "pipeline_8k"} & methods)
            assert has_fixed_segments == (operation in ("bcast", "reduce", "allreduce"))
            assert list(times.is_right) == [True] * (1 + len(schedules)), operation
            assert times.rounds_s.shape == (1, 1 + len(schedules))
            assert np.all(times.rounds_s > 0)


def test_communicator_of_some_ranks_in_another_order(launcher: Launcher) -> None:
    with program(launcher) as running:
        call = TimedCall("reduce", 4000, (4, 3, 1), root=1)
        schedules = candidates("reduce", NETWORK.select(("a", "b")), 4000, [1, 2], 1)

        times = running.time(call, schedules, time_s=0.0)

        assert all(times.is_right)


def test_schedule_that_does_not_fit_is_reported_and_not_timed(one_launcher: Launcher) -> None:
    with program(one_launcher) as running:
        schedules = [fl.collectives.plan("bcast", NETWORK, 4000, 0, method="native")]

        # The root is on another host than the schedule's.
        times = running.time(TimedCall("bcast", 4000, (0, 1, 2), 1), schedules, time_s=0.0)

        assert times.is_right[0]
        assert not times.is_right[1] or np.isfinite(times.rounds_s[:4]).all()


def test_slow_calls_are_not_repeated_beyond_the_limit(one_launcher: Launcher) -> None:
    with program(one_launcher) as running:
        call = TimedCall("bcast", 4000, (0, 1, 2))
        whole = running.time(call, [], time_s=0.0)
        cut = running.time(call, [], time_s=0.0, limit_s=1e-6)

        # Without a schedule nothing is left to be timed after the first rounds.
        assert len(whole.rounds_s) > 1
        assert len(cut.rounds_s) == 1


BINOMIAL = {
    "openmpi": {"coll_tuned_bcast_algorithm": "binomial"},
    "mpich": {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"},
}


def test_the_mpis_own_algorithms_and_another_order_can_be_chosen(launcher: Launcher) -> None:
    with program(launcher, OMPI_MCA_coll_tuned_use_dynamic_rules="1") as running:
        call = TimedCall("bcast", 4000, (0, 1, 2, 3, 4))
        algorithms = [
            NativeAlgorithm(BINOMIAL[launcher.family]),
            NativeAlgorithm(BINOMIAL[launcher.family], order=(0, 4, 1, 3, 2)),
            NativeAlgorithm(order=(2, 0, 4, 1, 3)),
        ]

        times = running.time(call, [], algorithms, time_s=0.0)

        assert times.rounds_s.shape[1] == 4
        assert list(times.is_right) == [True, True, True, True]


@pytest.mark.parametrize("setting", [{"no_such": "1"}, {"coll_tuned_bcast_algorithm": "magic"}])
def test_setting_that_the_mpi_does_not_have_is_no_algorithm(
    one_launcher: Launcher, setting: dict[str, str]
) -> None:
    with program(one_launcher) as running:
        times = running.time(
            TimedCall("bcast", 40, (0, 1)), [], [NativeAlgorithm(setting)], time_s=0
        )

        assert list(times.is_right) == [True, False]
