# SPDX-License-Identifier: Apache-2.0
"""When messages of a first run are relayed: by rates alone, as its program is not known."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from instances import groups_traffic, network, racks
from narrators import RecordingNarrator
from sessions import OPEN_MPI, session_of

import fairlead as fl
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.flows.inputs.first_run import FirstRun
from fairlead.flows.inputs.session import EarlyLook
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import RelayRequest, Request
from fairlead.flows.run.announcement import announcement_of_next_run
from fairlead.flows.run.features import FeaturePlan
from fairlead.flows.run.first_run import plan_first_run
from fairlead.report import run_view
from fairlead.watch.past_runs import past_run

UNEVEN = network(1e8 * np.random.default_rng(1).lognormal(0, 0.7, (4, 4)))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def request_of(known: fl.Network, **fields: Any) -> Request:
    fields = {"relays": RelayRequest("auto"), "program": ("./solver",), **fields}
    return Request(num_ranks=4, cluster=fl.Cluster.uniform(known.hosts, 1), **fields)


def planned(
    folder: Path,
    known: fl.Network,
    *,
    sends_by_tcp: bool | None = True,
    is_given: bool = False,
    **fields: Any,
) -> tuple[list[FeaturePlan], list[str]]:
    """The plan, and the lines about it."""
    request, narrator = request_of(known, **fields), RecordingNarrator()

    def look() -> EarlyLook:
        program = TracedProgram(groups_traffic([0, 1, 0, 1]))
        session = session_of(folder / "r", program, network=known, request=request)
        session.probe_program._sends_by_tcp = sends_by_tcp
        is_sure = np.ones(known.bandwidth_Bps.shape, dtype=bool)
        return EarlyLook(dataclasses.replace(session, is_network_given=is_given), is_sure)

    return plan_first_run(request, OPEN_MPI, narrator, look), narrator.lines


def test_relays_are_taken_where_pairs_have_rates_of_their_own(tmp_path: Path) -> None:
    (plan,), (line,) = planned(tmp_path, UNEVEN)

    assert plan.feature == "relays" and plan.is_taken and plan.is_considered
    assert line.startswith("relays: taken in this run: by the measured rates messages of 1 MiB ")


@pytest.mark.parametrize(
    ("known", "more", "why"),
    [
        (racks([0, 0, 1, 1]), {}, "by the measured rates they save 0% between any two hosts, less"),
        (UNEVEN, {"sends_by_tcp": False}, "the MPI does not send by TCP"),
        (UNEVEN, {"sends_by_tcp": None}, "it is not known whether the MPI sends by TCP"),
        (UNEVEN, {"is_given": True}, "the network was given, and nothing is measured"),
        (UNEVEN, {"program": ("bwrap", "--bind", "/", "/", "true")}, "the program is in a cont"),
    ],
)
def test_they_are_not_taken_and_the_reason_is_printed(
    tmp_path: Path, known: fl.Network, more: dict[str, Any], why: str
) -> None:
    (plan,), (line,) = planned(tmp_path, known, **more)

    assert not plan.is_taken
    assert line.startswith(f"relays: not taken in this run: {why}")


def test_with_always_they_are_taken_whatever_rates_say(tmp_path: Path) -> None:
    (plan,), _ = planned(tmp_path, racks([0, 0, 1, 1]), relays=RelayRequest("always"))
    assert (plan.is_taken, plan.why) == (True, "asked for")


def test_what_has_proved_slower_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.watch.dropped.Dropped.has_relaying", lambda *_arguments: True)
    (plan,), _ = planned(tmp_path, UNEVEN)
    assert (plan.is_taken, plan.why) == (False, "they have proved slower in earlier runs")


def never() -> EarlyLook:
    raise AssertionError("nothing is to be measured")


@pytest.mark.parametrize("relays", [None, RelayRequest("auto")])
def test_nothing_is_measured_where_no_relay_can_be_had(relays: RelayRequest | None) -> None:
    request = request_of(UNEVEN, relays=relays)
    launcher: Any = SimpleNamespace(name="srun", has_name_service=False)

    plans = plan_first_run(request, launcher, RecordingNarrator(), never)

    assert [plan.is_taken for plan in plans] == ([] if relays is None else [False])


def test_a_network_that_cannot_be_measured_is_the_reason() -> None:
    def fail() -> EarlyLook:
        raise fl.ProbeError("host b does not answer")

    look: Callable[[], EarlyLook] = fail
    (plan,) = plan_first_run(request_of(UNEVEN), OPEN_MPI, RecordingNarrator(), look)

    assert (plan.is_taken, plan.why) == (False, "host b does not answer")


def test_what_a_first_run_had_is_in_its_record_and_in_its_facts(tmp_path: Path) -> None:
    plans, _ = planned(tmp_path, UNEVEN)
    program = TracedProgram(groups_traffic([0, 1, 0, 1]), seconds=9.0, is_users_run=True)
    session = session_of(tmp_path / "run", program, network=UNEVEN)
    session = dataclasses.replace(session, first_run=FirstRun(planned=tuple(plans)))

    announcement = announcement_of_next_run(session, Decision(None, Gain(0.0, 0.0, 0.0), 1.0))

    assert past_run(tmp_path / "run").levers["relays"]["is_taken"]
    facts = run_view.facts("optimize", announcement)
    assert facts["is_for_next_run"] and facts["features"]["relays"]["is_taken"]
