# SPDX-License-Identifier: Apache-2.0
"""RunLog: after each run its time, the predicted one, and what proved slower are printed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import OPEN_MPI, session_of

import fairlead as fl
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.inputs.tracing import keep_traffic
from fairlead.flows.request import Request
from fairlead.measure.known_inputs import earlier_inputs, remember_input
from fairlead.watch.history import History

PLACED = Decision(fl.Placement(["a", "b"], [1, 0], "optimize"), Gain(0.5, 0.4, 0.6), network_s=8.0)
KEPT = Decision(None, Gain(0.0, 0.0, 0.0), network_s=8.0)


@pytest.fixture
def narrator() -> RecordingNarrator:
    return RecordingNarrator()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def log(narrator: RecordingNarrator, tmp_path: Path) -> RunLog:
    """The log of a program whose traced run has taken 10 s."""
    return log_of(tmp_path, narrator, traced_s=10.0)


def log_of(folder: Path, narrator: RecordingNarrator, traced_s: float | None) -> RunLog:
    traffic = fl.Traffic(bytes=np.ones((2, 2)), messages=np.ones((2, 2)))
    program = TracedProgram(traffic, trace_s=10.5, seconds=traced_s)
    return session_of(folder / "run", program, narrator=narrator).log


def test_the_history_is_left_in_the_folder_of_the_run(log: RunLog, tmp_path: Path) -> None:
    log.write()
    assert len(History.load(tmp_path / "run" / "history.json").runs) == 1

    log.add("optimize", PLACED, seconds=6.5, predicted_s=6.0)
    assert len(History.load(tmp_path / "run" / "history.json").runs) == 2


def test_no_runs_are_no_history(narrator: RecordingNarrator, tmp_path: Path) -> None:
    log_of(tmp_path, narrator, traced_s=None).write()

    assert not (tmp_path / "run" / "history.json").exists()


def test_measured_and_predicted_time_are_printed_with_that_of_the_launcher(
    log: RunLog, narrator: RecordingNarrator
) -> None:
    log.add("optimize", PLACED, seconds=6.5, predicted_s=6.0)

    assert narrator.lines == ["took 6.5 s, predicted 6 s; on the launcher's placement 10 s"]


def test_a_run_on_the_launchers_placement_is_compared_with_its_prediction_only(
    log: RunLog, narrator: RecordingNarrator
) -> None:
    log.add("optimize", KEPT, seconds=9.0, predicted_s=10.0)

    assert narrator.lines == ["took 9 s, predicted 10 s"]


def test_a_placement_without_anything_to_compare_it_with_is_named(
    narrator: RecordingNarrator, tmp_path: Path
) -> None:
    log = log_of(tmp_path, narrator, traced_s=None)

    log.add("optimize", PLACED, seconds=6.5, predicted_s=None)

    lack = "no time of the launcher's placement on these hosts is known to compare with"
    assert narrator.lines == [f"took 6.5 s; {lack}"]


def test_what_a_comparison_has_found_counts_in_later_runs(
    narrator: RecordingNarrator, tmp_path: Path
) -> None:
    compared = log_of(tmp_path, narrator, traced_s=None)
    for _ in range(3):
        compared.keep("launcher", None, 10.0)
        compared.keep("optimize", PLACED.placement, 12.0)

    later = log_of(tmp_path / "later", narrator, traced_s=None)

    assert later.kept.launcher_s() == 10.0
    assert later.kept.find_dropped() == {("b", "a")}
    assert narrator.lines == []


def test_a_placement_that_has_proved_slower_is_dropped_with_the_reason(
    log: RunLog, narrator: RecordingNarrator
) -> None:
    for seconds in (12.0, 11.5, 13.0):
        log.keep("launcher", None, 10.0)
        log.add("optimize", PLACED, seconds=seconds, predicted_s=6.0)

    first, _, last = narrator.lines
    assert first == (
        "took 12 s, predicted 6 s; on the launcher's placement 10 s; this placement (not the "
        "method) may be slower (1 run of 12 s against 2 runs of 10 to 10 s without): it will run "
        "in turns with and without"
    )
    assert last == (
        "took 13 s, predicted 6 s; on the launcher's placement 10 s; this placement (not the "
        "method) proved slower (3 runs of 11.5 to 13 s against 4 runs of 10 to 10 s without; risk "
        "of an error 2.9%) and will be left out until the network or the load changes; to undo "
        "that: fairlead runs --forget run"
    )
    assert log.kept.find_dropped() == {("b", "a")}


def test_the_time_of_a_run_that_shared_its_hosts_does_not_count(
    log: RunLog, narrator: RecordingNarrator
) -> None:
    log.add("optimize", PLACED, seconds=30.0, predicted_s=6.0, is_shared=True)

    assert narrator.lines[0].endswith(
        "another run had some of the hosts, so this time does not count"
    )
    assert not log.kept.compare_placement(("b", "a")).is_suspect


def test_tuned_collectives_that_have_proved_slower_are_dropped_with_the_reason(
    log: RunLog, narrator: RecordingNarrator
) -> None:
    for _ in range(3):
        log.add("optimize", PLACED, seconds=5.0, predicted_s=6.0)
        log.add("optimize", PLACED, seconds=8.0, predicted_s=5.0, is_tuned=True)

    assert "tuned collectives on this placement proved slower (3 runs of " in narrator.lines[-1]


def test_what_an_earlier_build_has_shown_holds_until_this_one_was_run_on_it(
    narrator: RecordingNarrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "solver"
    request = Request((str(program),), 2, fl.Cluster(("a", "b"), (1, 1)))
    traffic = fl.Traffic(bytes=np.ones((2, 2)), messages=np.ones((2, 2)))

    def log_of_build(name: str, seen: fl.Traffic) -> RunLog:
        program.write_text(f"#!/bin/sh\n# {name}\n")
        program.chmod(0o755)
        keep_traffic(request, OPEN_MPI, narrator, {}, seen)
        traced = TracedProgram(seen)
        return session_of(tmp_path / name, traced, request=request, narrator=narrator).log

    first = log_of_build("first", traffic)
    for _ in range(3):
        first.keep("launcher", None, 10.0)
        first.keep("optimize", PLACED.placement, 12.0)
    later = log_of_build("second build", traffic)
    other = log_of_build(
        "third build, whose pattern is another one", fl.Traffic(np.eye(2), np.eye(2))
    )

    assert later.dropped.find_placements() == {("b", "a")}
    assert later.kept.runs == ()
    assert other.dropped.find_placements() == set()
    later.keep("optimize", PLACED.placement, 9.0)
    assert later.dropped.find_placements() == set()


def test_a_program_with_an_argument_that_is_not_utf_8_has_a_history(
    narrator: RecordingNarrator, tmp_path: Path
) -> None:
    traffic = fl.Traffic(bytes=np.ones((2, 2)), messages=np.ones((2, 2)))
    words = ("./solver", os.fsdecode(b"gr\xf6\xdfe.dat"))
    request = Request(words, 2, fl.Cluster.uniform(["a", "b"], 1))

    def log_in(folder: str) -> RunLog:
        program = TracedProgram(traffic, seconds=10.0)
        return session_of(tmp_path / folder, program, request=request, narrator=narrator).log

    log_in("first")
    assert [run.seconds for run in log_in("next").kept.runs] == [10.0, 10.0]


def test_an_input_that_is_not_utf_8_is_known_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ("sleep", os.fsdecode(b"gr\xf6\xdfe.dat"))
    remember_input(words, 2, OPEN_MPI, None)

    (known,) = earlier_inputs(words, OPEN_MPI)
    assert known.has_arguments(words[1:])
    assert not known.has_arguments(["other.dat"])


def test_a_run_goes_on_where_nothing_that_is_kept_can_be_looked_up(
    narrator: RecordingNarrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, f"/tmp/{300 * 'x'}")

    log = log_of(tmp_path, narrator, traced_s=10.0)

    assert log.kept.runs == ()
    (line,) = narrator.lines
    assert line.startswith("the time of this run is not recorded: ")
