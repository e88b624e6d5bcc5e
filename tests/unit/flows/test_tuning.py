# SPDX-License-Identifier: Apache-2.0
"""Which calls of a program are tuned, and within what time."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from narrators import RecordingNarrator
from sessions import OPEN_MPI, session_of

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.choosing import Choice
from fairlead.decide.expected_gain import Gain
from fairlead.errors import ProbeError
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.run.collectives import saved_share, tune_for_run, worth_tuning
from fairlead.flows.tune.flow import Tuning, schedule_candidates, within_budget
from fairlead.measure.collective_times import TimedCall
from fairlead.model.collective_call import CollectiveCall
from fairlead.narrator import Narrator

NOTHING = sp.csr_array((4, 4))
TWO_HOSTS = fl.Placement(("a", "b"), np.array([0, 0, 1, 1]))
NETWORK = fl.Network(("a", "b"), np.zeros((2, 2)), np.full((2, 2), 1e8))


def traffic(*calls: CollectiveCall, run_time_s: float = 10.0) -> fl.Traffic:
    return fl.Traffic(
        NOTHING,
        NOTHING,
        collectives=calls,
        communicators=[np.arange(4), np.array([2, 3]), np.array([3, 0, 1])],
        run_time_s=run_time_s,
    )


def call(operation: str, size: int, seconds: float, **fields: int | None) -> CollectiveCall:
    known: dict[str, int | None] = {"root": None, "communicator": 0, **fields}
    return CollectiveCall(operation, 4, size, 40, seconds, known["root"], known["communicator"])


def test_calls_come_by_the_time_they_take() -> None:
    found = worth_tuning(
        traffic(call("bcast", 8, 4.0, root=3), call("allreduce", 64, 16.0)), TWO_HOSTS
    )

    everyone = (0, 1, 2, 3)
    assert found.calls == (
        TimedCall("allreduce", 64, everyone),
        TimedCall("bcast", 8, everyone, root=3),
    )
    # 20 s of 4 ranks that ran for 10 s.
    assert found.share == pytest.approx(0.5)


def test_little_time_in_collectives_is_not_worth_it() -> None:
    assert not worth_tuning(traffic(call("bcast", 8, 1.9)), TWO_HOSTS).calls
    assert worth_tuning(traffic(call("bcast", 8, 2.1)), TWO_HOSTS).calls


def test_run_of_unknown_length_is_not_tuned() -> None:
    unknown = traffic(call("bcast", 8, 4.0), run_time_s=float("nan"))

    assert not worth_tuning(unknown, TWO_HOSTS).calls


def test_blocks_of_alltoall_and_reduce_scatter_are_for_each_rank() -> None:
    found = worth_tuning(
        traffic(call("alltoall", 400, 9.0), call("reduce_scatter", 800, 8.0)), TWO_HOSTS
    )

    assert [one.message_bytes for one in found.calls] == [100, 200]


def test_communicator_on_one_host_and_unknown_ones_are_left_out() -> None:
    inside = CollectiveCall("bcast", 2, 8, 40, 9.0, 0, 1)

    found = worth_tuning(
        traffic(inside, call("allreduce", 8, 9.0, communicator=None), call("ibcast", 8, 9.0)),
        TWO_HOSTS,
    )

    assert not found.calls


def test_roots_and_communicators_alike_are_one_call() -> None:
    three = [CollectiveCall("bcast", 3, 8, 40, seconds, 1, 2) for seconds in (9.0, 8.0)]
    others = [call("bcast", 8, 2.0, root=0), call("bcast", 8, 3.0, root=2)]

    found = worth_tuning(traffic(*others, *three), TWO_HOSTS)

    # Four ranks on these hosts take other times than three.
    assert found.calls == (
        TimedCall("bcast", 8, (3, 0, 1), root=1),
        TimedCall("bcast", 8, (0, 1, 2, 3), root=2),
    )
    assert found.seconds_of_calls == (17.0 / 4, 5.0 / 4)


def test_calls_that_take_next_to_nothing_are_left_out() -> None:
    found = worth_tuning(traffic(call("bcast", 8, 30.0), call("reduce", 8, 1.0)), TWO_HOSTS)

    assert [one.operation for one in found.calls] == ["bcast"]


def test_root_of_a_schedule_is_among_the_hosts_of_the_ranks() -> None:
    placement = fl.Placement(("a", "b", "c"), np.array([2, 0, 1, 2]))
    rates_Bps = np.where(np.eye(3), np.inf, 1e8)
    network = fl.Network(("a", "b", "c"), np.where(np.eye(3), 0.0, 1e-5), rates_Bps)

    schedules = schedule_candidates(TimedCall("bcast", 4096, (3, 1, 0), root=2), network, placement)

    assert {schedule.num_hosts for schedule in schedules} == {2}
    assert {schedule.root for schedule in schedules} == {1}
    assert 1 <= len(schedules) <= 4


class Clock:
    """A time that passes only while something is measured."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


CALLS = [TimedCall("bcast", size, (0, 1)) for size in (1, 2, 3, 4)]


def choice(call: TimedCall) -> Choice:
    return Choice(CallKind.of(call, TWO_HOSTS), 1.0)


def test_time_that_is_left_is_shared_by_the_calls_that_are_left() -> None:
    clock, shares = Clock(), []

    def measured(call: TimedCall, time_s: float) -> Choice:
        shares.append(time_s)
        clock.now_s += 6.0 if call.message_bytes == 1 else time_s
        return choice(call)

    assert len(within_budget(CALLS, measured, 12.0, Narrator(), clock)) == 4
    assert shares == [3.0, 2.0, 2.0, 2.0]


def test_no_call_begins_after_the_budget() -> None:
    clock = Clock()

    def measured(call: TimedCall, _time_s: float) -> Choice:
        clock.now_s += 6.0
        return choice(call)

    narrator = RecordingNarrator()

    assert len(within_budget(CALLS, measured, 12.0, narrator, clock)) == 2
    assert narrator.lines == [
        "collectives: 2 of 4 calls were not measured within 12 s, and stay the MPI's own"
    ]


def test_call_that_fails_leaves_the_others() -> None:
    def measured(call: TimedCall, _time_s: float) -> Choice:
        if call.message_bytes == 2:
            raise ProbeError("lost")
        return choice(call)

    choices = within_budget(CALLS, measured, 12.0, Narrator())

    assert [one.kind.message_bytes for one in choices] == [1, 3, 4]


def test_failure_of_all_is_an_error() -> None:
    def measured(_call: TimedCall, _time_s: float) -> Choice:
        raise ProbeError("lost")

    with pytest.raises(fl.ProbeError, match="lost"):
        within_budget(CALLS, measured, 12.0, Narrator())


def test_no_call_begins_after_the_budget_where_none_has_worked_either() -> None:
    clock, begun = Clock(), []

    def measured(call: TimedCall, _time_s: float) -> Choice:
        begun.append(call)
        clock.now_s += 180.0
        raise ProbeError("did not end within 120 s and was stopped")

    narrator = RecordingNarrator()
    with pytest.raises(fl.ProbeError, match="did not end"):
        within_budget(CALLS, measured, 10.0, narrator, clock)
    assert len(begun) == 1


def test_a_call_that_has_failed_is_not_reported_as_one_without_time() -> None:
    clock = Clock()

    def measured(call: TimedCall, _time_s: float) -> Choice:
        clock.now_s += 6.0
        if call.message_bytes == 2:
            raise ProbeError("lost")
        return choice(call)

    narrator = RecordingNarrator()
    assert len(within_budget(CALLS, measured, 12.0, narrator, clock)) == 1
    assert narrator.lines == [
        "collectives: bcast of 2 B: lost",
        "collectives: 2 of 4 calls were not measured within 12 s, and stay the MPI's own",
    ]


def test_blocks_of_allgatherv_count_as_their_mean() -> None:
    # Two of four ranks pass 100 bytes, and two 300.
    blocks = call("allgatherv", 100, 4.0), call("allgatherv", 300, 4.0)

    found = worth_tuning(traffic(*blocks, call("bcast", 8, 6.0)), TWO_HOSTS)

    assert [(one.operation, one.message_bytes) for one in found.calls] == [
        ("allgather", 200),
        ("bcast", 8),
    ]
    assert found.seconds_of_calls == (2.0, 1.5)


def test_reduce_scatter_block_follows_the_rule_of_reduce_scatter() -> None:
    found = worth_tuning(traffic(call("reduce_scatter_block", 800, 8.0)), TWO_HOSTS)

    assert found.calls == (TimedCall("reduce_scatter", 200, (0, 1, 2, 3)),)


def test_what_is_saved_is_that_of_the_call_also_where_another_one_failed() -> None:
    found = worth_tuning(
        traffic(call("bcast", 8, 20.0), call("reduce", 8, 12.0), call("allreduce", 8, 8.0)),
        TWO_HOSTS,
    )
    kinds = {call.operation: CallKind.of(call, TWO_HOSTS) for call in found.calls}
    halved = Choice(kinds["reduce"], 1.0, "tree", 0.5, Gain(0.5, 0.4, 0.6), is_taken=True)
    kept = Choice(kinds["allreduce"], 1.0)
    launcher = OpenMpi4(Path("mpirun"), (4, 1, 4))
    # The bcast could not be timed.
    tuning = Tuning(launcher, NETWORK, TWO_HOSTS, [halved, kept], 1, False, 1.0)

    # All 40 s of 4 ranks in 10 s are collectives, and 12 s of them take half the time.
    assert saved_share(found, tuning) == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("ahead_s", "num_timed"), [(-1.0, 1), (-7200.0, 2), (7200.0, 2)], ids=["now", "old", "future"]
)
def test_what_was_tuned_is_used_again_up_to_its_age(
    ahead_s: float, num_timed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    timed: list[object] = []

    def time_calls(calls: object, *_: object) -> Tuning:
        timed.append(calls)
        return Tuning(OPEN_MPI, NETWORK, TWO_HOSTS, [], 0, False, 1.0)

    monkeypatch.setattr("fairlead.flows.run.collectives.time_calls", time_calls)
    program = TracedProgram(traffic(call("allreduce", 1024, 20.0)))
    session = session_of(tmp_path / "run", program, network=NETWORK, slots=2)

    def tune() -> None:
        tune_for_run(session, TWO_HOSTS, lambda *_: contextlib.nullcontext())

    tune()
    (kept,) = (tmp_path / "XDG_CACHE_HOME").rglob("collectives.json")
    at_s = time.time() + ahead_s
    os.utime(kept, (at_s, at_s))
    tune()

    assert len(timed) == num_timed
