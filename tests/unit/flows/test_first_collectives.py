# SPDX-License-Identifier: Apache-2.0
"""Schedules of collectives in a first run: by predictions alone, as its program is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instances import groups_traffic, network, racks
from narrators import RecordingNarrator
from sessions import OPEN_MPI, session_of

import fairlead as fl
from fairlead.act.launch import LaunchSpec
from fairlead.act.plan.collectives import read_collectives_plan, write_collectives_plan
from fairlead.flows.inputs.first_run import FirstRun
from fairlead.flows.inputs.session import EarlyLook
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import CollectivesRequest, RelayRequest, Request
from fairlead.flows.run.features import FeaturePlan
from fairlead.flows.run.first_collectives import TriedSchedules, tried_sentence
from fairlead.flows.run.first_run import plan_first_run
from fairlead.watch.tried_schedules import TriedSchedule

FAR_RACKS = racks([0, 1, 0, 1, 0, 1, 0, 1], ratio=20.0)
SLOW_LINKS = network(np.full((2, 2), 1e6))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def planned(
    folder: Path, known: fl.Network = FAR_RACKS, *, slots: int = 1, **fields: Any
) -> tuple[list[FeaturePlan], RecordingNarrator]:
    """The plan of a first run, and the lines about it."""
    fields = {"collectives": CollectivesRequest("auto"), "program": ("./solver",), **fields}
    cluster = fl.Cluster.uniform(known.hosts, slots)
    num_ranks = known.num_hosts
    request, narrator = Request(num_ranks=num_ranks, cluster=cluster, **fields), RecordingNarrator()
    looks: list[int] = []

    def look() -> EarlyLook:
        looks.append(1)
        assert len(looks) == 1, "the network is measured once"
        program = TracedProgram(groups_traffic([0, 1] * (num_ranks // 2)))
        session = session_of(
            folder / "r", program, network=known, request=request, narrator=narrator
        )
        return EarlyLook(session, np.ones(known.bandwidth_Bps.shape, dtype=bool))

    return plan_first_run(request, OPEN_MPI, narrator, look), narrator


def test_schedules_are_tried_where_predictions_promise_enough(tmp_path: Path) -> None:
    (plan,), narrator = planned(tmp_path)

    assert isinstance(plan, TriedSchedules)
    assert plan.feature == "collectives" and plan.is_taken and plan.is_considered
    (line,) = narrator.lines
    assert line.startswith("collectives: taken in this run: by the measured rates schedules take ")
    assert "compared with the MPI's own calls while the program runs" in line
    predicted = plan.facts()["predicted"]
    # On a busy machine the time may suffice for the first call alone.
    first = predicted[0]
    assert (first["operation"], first["message_bytes"]) == ("bcast", 65536)
    assert first["is_taken"] and first["schedule_s"] < first["native_s"]
    json.dumps(plan.facts())


@pytest.mark.parametrize(
    ("known", "slots", "why"),
    [
        (network(np.full((2, 2), 1e9)), 1, "by the measured rates no schedule saves as much"),
        (SLOW_LINKS, 2, "all ranks are on one host"),
    ],
)
def test_they_are_not_and_the_reason_is_printed(
    tmp_path: Path, known: fl.Network, slots: int, why: str
) -> None:
    (plan,), narrator = planned(tmp_path, known, slots=slots)

    assert not plan.is_taken
    assert narrator.lines[0].startswith(f"collectives: not taken in this run: {why}")


def test_what_has_proved_slower_is_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.watch.dropped.Dropped.has_tuning", lambda *_arguments: True)
    (plan,), _ = planned(tmp_path)
    assert (plan.is_taken, plan.why) == (False, "tuned ones have proved slower in earlier runs")


@pytest.mark.parametrize(
    "asked", [CollectivesRequest("never"), CollectivesRequest("auto", Path("plan"))]
)
def test_nothing_is_predicted_unless_asked_for(tmp_path: Path, asked: CollectivesRequest) -> None:
    plans, narrator = planned(tmp_path, collectives=asked)
    assert (plans, narrator.lines) == ([], [])


def test_relays_and_schedules_rest_on_one_look_at_the_network(tmp_path: Path) -> None:
    plans, _ = planned(tmp_path, relays=RelayRequest("auto"))
    assert [plan.feature for plan in plans] == ["relays", "collectives"]


def test_the_program_gets_rules_that_were_not_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.flows.run.first_collectives.follow_plan", write_only)
    (plan,), _ = planned(tmp_path)

    with plan.apply(LaunchSpec(("./solver",), 8, fl.Cluster.uniform(FAR_RACKS.hosts, 1))) as spec:
        assert spec is not None
        rules = read_collectives_plan(Path(spec.env["FAIRLEAD_PLAN"])).rules

    assert rules.rules and all(rule.least_saved_ratio for rule in rules.rules)
    assert rules.drift is not None and not rules.is_reproducible


def write_only(session: Any, plan: Any) -> dict[str, str]:
    """As `follow_plan` with a library."""
    folder = session.directory.file("plan")
    write_collectives_plan(folder, plan.network, plan.rules)
    return {"FAIRLEAD_PLAN": str(folder)}


def tried(end: str, **fields: Any) -> TriedSchedule:
    times = {"predicted_s": 0.01, "native_s": 0.08, "schedule_s": 0.02}
    call = {"operation": "bcast", "message_bytes": 65536, "method": "forest_8k"}
    return TriedSchedule(**{**call, **times, **fields}, end=end)


def test_the_sentence_names_what_each_call_followed() -> None:
    of_calls = [
        tried("used"),
        tried("used"),
        tried("slower", operation="reduce"),
        tried("unpromising", operation="allgather"),
        tried("used", message_bytes=7),
        tried("left", message_bytes=7),
    ]
    sentence = tried_sentence(of_calls)

    assert sentence == (
        "by schedules bcast of 64 KiB by forest_8k (75% less time); by the MPI again, "
        "as it became faster, bcast of 7 B; by the MPI, as no schedule was faster, reduce of "
        "64 KiB; by the MPI, as the expected saving is too small, allgather of 64 KiB"
    )
    assert "all by the MPI; no call was made often enough" in tried_sentence([])


@pytest.mark.parametrize(
    ("end", "is_tuned"), [("used", True), ("left", True), ("slower", False), ("unpromising", False)]
)
def test_a_run_counts_as_tuned_only_if_calls_followed_a_schedule(
    tmp_path: Path, end: str, is_tuned: bool
) -> None:
    plans, _ = planned(tmp_path)
    done = {"schedules": [tried(end).model_dump()]}

    first = FirstRun(planned=tuple(plans), applied=tuple(plans), did={"collectives": done})

    assert first.is_tuned == is_tuned
    assert first.levers()["collectives"]["did"] == done
    assert not FirstRun(planned=tuple(plans)).is_tuned
