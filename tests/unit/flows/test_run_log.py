# SPDX-License-Identifier: Apache-2.0
"""RunLog: after each run the user is told its time, the predicted one, and what proved slower."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from narrators import Told
from sessions import session_of

import fairlead as fl
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.tracing import TracedProgram
from fairlead.watch.history import History

PLACED = Decision(fl.Placement(["a", "b"], [1, 0], "optimize"), Gain(0.5, 0.4, 0.6), network_s=8.0)
KEPT = Decision(None, Gain(0.0, 0.0, 0.0), network_s=8.0)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def log(told: Told, tmp_path: Path) -> RunLog:
    """The log of a program whose traced run has taken 10 s."""
    return log_of(tmp_path, told, traced_s=10.0)


def log_of(folder: Path, told: Told, traced_s: float | None) -> RunLog:
    traffic = fl.Traffic(bytes=np.ones((2, 2)), messages=np.ones((2, 2)))
    program = TracedProgram(traffic, trace_s=10.5, seconds=traced_s)
    return session_of(folder / "run", program, narrator=told).log


def test_the_history_is_left_in_the_folder_of_the_run(log: RunLog, tmp_path: Path) -> None:
    log.write()
    assert len(History.load(tmp_path / "run" / "history.json").runs) == 1

    log.add("optimize", PLACED, seconds=6.5, predicted_s=6.0)
    assert len(History.load(tmp_path / "run" / "history.json").runs) == 2


def test_no_runs_are_no_history(told: Told, tmp_path: Path) -> None:
    log_of(tmp_path, told, traced_s=None).write()

    assert not (tmp_path / "run" / "history.json").exists()


def test_measured_and_predicted_time_are_told_beside_that_of_the_launcher(
    log: RunLog, told: Told
) -> None:
    log.add("optimize", PLACED, seconds=6.5, predicted_s=6.0)

    assert told.lines == ["took 6.5 s, predicted 6 s; on the launcher's placement 10 s"]


def test_a_run_on_the_launchers_placement_is_compared_with_its_prediction_only(
    log: RunLog, told: Told
) -> None:
    log.add("optimize", KEPT, seconds=9.0, predicted_s=10.0)

    assert told.lines == ["took 9 s, predicted 10 s"]


def test_a_placement_without_anything_to_compare_it_with_is_told(
    told: Told, tmp_path: Path
) -> None:
    log = log_of(tmp_path, told, traced_s=None)

    log.add("optimize", PLACED, seconds=6.5, predicted_s=None)

    lack = "no time of the launcher's placement on these hosts is known to compare with"
    assert told.lines == [f"took 6.5 s; {lack}"]


def test_what_a_comparison_has_found_counts_in_later_runs(told: Told, tmp_path: Path) -> None:
    compared = log_of(tmp_path, told, traced_s=None)
    compared.keep("launcher", None, 10.0)
    compared.keep("optimize", PLACED.placement, 12.0)

    later = log_of(tmp_path / "later", told, traced_s=None)

    assert later.kept.launcher_s() == 10.0
    assert later.kept.dropped() == {("b", "a")}
    assert told.lines == []


def test_a_placement_that_has_proved_slower_is_dropped_with_the_reason(
    log: RunLog, told: Told
) -> None:
    log.add("optimize", PLACED, seconds=12.0, predicted_s=6.0)

    assert told.lines == [
        "took 12 s, predicted 6 s; on the launcher's placement 10 s: this placement has proved "
        "slower, it is not taken again"
    ]
    assert log.kept.dropped() == {("b", "a")}


def test_tuned_collectives_that_have_proved_slower_are_dropped_with_the_reason(
    log: RunLog, told: Told
) -> None:
    log.add("optimize", PLACED, seconds=5.0, predicted_s=6.0)
    log.add("optimize", PLACED, seconds=8.0, predicted_s=5.0, is_tuned=True)

    assert told.lines[1] == (
        "took 8 s, predicted 5 s; on the launcher's placement 10 s; tuned collectives have proved "
        "slower, they are not used again"
    )
