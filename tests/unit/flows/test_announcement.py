# SPDX-License-Identifier: Apache-2.0
"""The line about a decision, and the same as facts."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from instances import groups_traffic, racks
from sessions import session_of

from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.run.announcement import Announcement, decision_line
from fairlead.report import run_view

NETWORK = racks([0, 1])
LAUNCHER: Any = SimpleNamespace(family="openmpi", version=(4, 1, 4), path=Path("/usr/bin/mpirun"))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_of(
        tmp_path / "record",
        TracedProgram(groups_traffic([0, 1, 0, 1]), trace_s=2.0),
        network=NETWORK,
        slots=2,
        launcher=LAUNCHER,
        probe_s=1.0,
    )


def decided(budget_s: float | None) -> Decision:
    return Decision(None, Gain(0.01, -0.1, 0.1, 0.3), 1.0, 6, seconds=2.5, budget_s=budget_s)


def test_the_time_of_a_decision_stands_next_to_its_budget(session: Session) -> None:
    line = decision_line(session, decided(3.75))
    assert line.endswith("; deciding took 2.5 s (budget 3.75 s), tracing 2 s")


def test_where_nothing_may_be_measured_there_is_no_budget(session: Session) -> None:
    line = decision_line(session, decided(None))
    assert line.endswith("; deciding took 2.5 s, tracing 2 s")


@pytest.mark.parametrize("basis", ["the measured rates", "the declared topology"])
def test_what_the_network_rests_on_is_named(session: Session, basis: str) -> None:
    placed = Decision(session.launchers, Gain(0.5, 0.5, 0.5, 0.0), 1.0)
    line = decision_line(dataclasses.replace(session, basis=basis), placed)
    assert f"less time on the network by {basis}, " in line


def test_a_placement_that_has_proved_slower_is_named_as_the_reason(session: Session) -> None:
    dropped = Decision(None, Gain(0.0, 0.0, 0.0), 1.0, has_dropped=True, seconds=2.5, budget_s=3.75)
    line = decision_line(session, dropped)
    assert line.startswith("the launcher's placement is kept: that of optimize has proved slower; ")


def test_facts_have_the_budget_of_the_decision(tmp_path: Path) -> None:
    facts = run_view.facts("optimize", Announcement(decided(3.75), None, "", tmp_path))
    assert facts["deciding_s"] == 2.5
    assert facts["budget_s"] == 3.75


def test_facts_name_the_folder_of_the_run(tmp_path: Path) -> None:
    facts = run_view.facts("optimize", Announcement(decided(None), None, "", tmp_path))
    assert facts["kept_launcher_placement"] is True
    assert facts["run_directory"] == str(tmp_path)


def test_facts_have_the_same_names_where_there_is_nothing_to_decide(tmp_path: Path) -> None:
    decided_facts = run_view.facts("optimize", Announcement(decided(3.75), None, "", tmp_path))
    assert run_view.facts_of_one_host(tmp_path).keys() == decided_facts.keys()
    undecided = run_view.facts_of_undecided("no answer", tmp_path)
    assert undecided.keys() == decided_facts.keys() | {"undecided"}
    assert undecided["is_for_next_run"] is True
