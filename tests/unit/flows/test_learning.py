# SPDX-License-Identifier: Apache-2.0
"""What a run has sent corrects what was known of it, and never costs its result."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import OPEN_MPI, session_of

import fairlead as fl
from fairlead.act.launch import Finished
from fairlead.files.run_directory import SEEN_TRAFFIC
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.inputs.tracing import keep_traffic
from fairlead.flows.request import Request
from fairlead.flows.run.learning import learn_from_run
from fairlead.flows.run.watched_traffic import watch_traffic
from fairlead.measure.known_inputs import KnownInput, earlier_inputs
from fairlead.measure.profile_cache import recall_traffic
from fairlead.model.coverage import Coverage
from fairlead.narrator import Narrator
from fairlead.watch.history import now

GUESS = KnownInput(
    program=("./solver", "1"), num_ranks=4, build=(0, 0), traffic=f"{'0' * 24}.traffic.npz",
    when=now(),
)  # fmt: skip


def ring(shift: int, calls: int = 10, **more: Any) -> fl.Traffic:
    sent = np.roll(np.eye(4), shift, axis=1)
    return fl.Traffic(1e5 * calls * sent, calls * sent, 1e5 * sent, **more)


REQUEST = Request(("./solver",), 4, fl.Cluster(("a", "b"), (2, 2)))
"""As of the sessions of `Run`."""


class Run:
    """A run by a traffic, whose own is seen then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def again(self) -> Run:
        """The next run of the program."""
        return Run(self.folder / "again")

    def learn(
        self, used: fl.Traffic, seen: fl.Traffic | None, guess: KnownInput | None = None
    ) -> list[str]:
        narrator = RecordingNarrator()
        self.session = session_of(
            self.folder / "run", TracedProgram(used, guess=guess), narrator=narrator, slots=2
        )
        learn_from_run(self.session, seen, {})
        return narrator.lines

    def known(self) -> fl.Traffic | None:
        return recall_traffic(self.session.request.program, 4, OPEN_MPI)

    def learned(self) -> dict[str, Any]:
        steps = json.loads((self.folder / "run" / "run.json").read_text())["steps"]
        return {step["step"]: step for step in steps}["learned"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Run(tmp_path)


def test_a_run_like_the_traced_one_changes_nothing(run: Run) -> None:
    assert run.learn(ring(1), ring(1, calls=11)) == []
    assert run.known() is None
    assert run.learned()["difference"] < 1e-9
    assert not run.learned()["is_corrected"]


def test_another_pattern_is_used_from_the_next_run_on(run: Run) -> None:
    lines = run.learn(ring(1), ring(2))

    assert lines == [
        "traffic: this run's differs from that of the traced one by 100.0%; the next run is placed "
        "by this one's"
    ]
    known = run.known()
    assert known is not None and known.bytes[0, 2] == 1e6
    assert (run.folder / "run" / SEEN_TRAFFIC).exists()


def test_the_same_pattern_with_other_amounts_is_used_without_a_word(run: Run) -> None:
    assert run.learn(ring(1), ring(1, calls=30)) == []
    known = run.known()
    assert known is not None and known.messages[0, 1] == 30


@pytest.mark.parametrize(
    ("seen", "line"),
    [
        (ring(1), "traffic: the guess was right: this run's differs from it by 0.0%"),
        (
            ring(2),
            "traffic: the guess was wrong: this run's differs from it by 100.0%; the next run is "
            "placed by its own traffic",
        ),
        (None, "traffic: this run left no trace; the guess is not checked"),
    ],
)
def test_a_guess_is_checked(run: Run, seen: fl.Traffic | None, line: str) -> None:
    assert run.learn(ring(1), seen, GUESS) == [line]
    assert (run.known() is not None) == (seen is not None)


def test_a_partial_trace_is_replaced_by_a_whole_one(run: Run) -> None:
    partial = {"how": "traced", "partial": Coverage(4, (), 30.0, 30.0).facts()}
    lines = run.learn(ring(1, origin=partial), ring(1))
    assert lines == ["traffic: now known of a whole run"]
    assert run.known() is not None


PART = {"how": "traced", "partial": Coverage(4, (), 30.0, 31.0).facts()}
SHORTER = {"how": "traced", "partial": Coverage(4, (), 12.0, 12.0).facts()}


def test_a_part_of_a_run_corrects_no_whole_traffic(run: Run) -> None:
    assert run.learn(ring(1), ring(2, origin=PART)) == []
    assert run.known() is None
    assert not run.learned()["is_corrected"]
    assert run.learned()["difference"] is None
    assert run.learned()["partial"]["least_s"] == 30.0


def test_a_part_of_a_run_is_kept_where_the_traffic_was_guessed_and_checks_no_guess(
    run: Run,
) -> None:
    lines = run.learn(ring(1), ring(2, origin=PART), GUESS)

    assert lines == [
        "traffic: the guess is not checked; what this run has sent is kept for the next one, "
        "partial: covers the first 30 s to 31 s of the run, of all 4 ranks"
    ]
    known = run.known()
    assert known is not None and known.bytes[0, 2] == 1e6


def test_a_part_of_a_run_replaces_a_shorter_part_and_no_longer_one(run: Run) -> None:
    keep_traffic(REQUEST, OPEN_MPI, Narrator(), {}, ring(1, origin=PART))

    assert run.learn(ring(1, origin=PART), ring(2, origin=SHORTER)) == []

    known = run.known()
    assert known is not None and known.bytes[0, 1] == 1e6
    longer = run.again.learn(ring(1, origin=SHORTER), ring(3, origin=PART))
    assert longer == [
        "traffic: what this run has sent is kept for the next one, partial: covers the first 30 s "
        "to 31 s of the run, of all 4 ranks"
    ]
    known = run.known()
    assert known is not None and known.bytes[0, 3] == 1e6


def test_a_part_of_a_run_says_nothing_about_guesses_of_other_inputs(run: Run) -> None:
    other = dataclasses.replace(REQUEST, program=("./solver", "2"))
    keep_traffic(other, OPEN_MPI, Narrator(), {}, ring(1))
    keep_traffic(REQUEST, OPEN_MPI, Narrator(), {}, ring(2, origin=PART))

    found = earlier_inputs(REQUEST.program, OPEN_MPI)

    assert len(found) == 2
    assert all(one.guess is None for one in found)


def test_a_full_disk_costs_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    lines = run.learn(ring(1), ring(2))
    assert lines[0].startswith("traffic: not cached for later runs: ")


def watched(session: Session, exit_code: int = 0) -> tuple[dict[str, str], fl.Traffic | None]:
    spec = session.request.launch_spec(session.cluster)
    with watch_traffic(session, spec) as found:
        return dict(found.spec.env), found.read(Finished(exit_code, 1.0))


def test_a_program_without_a_trace_or_with_a_given_one_is_not_watched(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fairlead.flows.run.watched_traffic.mpi_builds.find",
        lambda _launcher: pytest.fail("nothing is to be loaded"),
    )
    run.learn(ring(1, origin={"how": "no trace"}), None)
    assert watched(run.session) == ({}, None)
