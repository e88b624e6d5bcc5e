# SPDX-License-Identifier: Apache-2.0
"""What a run decided on each lever, as it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from fairlead.report.decision_view import decision_body
from fairlead.report.learned_view import describe_learned
from fairlead.report.levers_view import did_sentence, levers_of, view
from fairlead.watch.past_runs import past_runs

LEVERS = {
    "placement": {
        "is_considered": True, "is_taken": False, "why": "kept", "saved_share": None,
        "gain": {"ratio": 0.01, "low_ratio": -0.1, "high_ratio": 0.1, "loss_risk": 0.3},
    },
    "relays": {
        "is_considered": False, "is_taken": True, "why": "asked for", "saved_share": None,
        "gain": None,
    },
}  # fmt: skip


def recorded(folder: Path) -> Path:
    run = folder / "run"
    run.mkdir()
    started = "2026-01-01T00:00:00+00:00"
    steps = [{"step": "decision", "method": "optimize", "levers": LEVERS}]
    (run / "run.json").write_text(json.dumps({"kind": "run", "started": started, "steps": steps}))
    return run


def test_each_lever_has_a_line_with_what_was_expected_and_why(tmp_path: Path) -> None:
    console = Console(width=120)
    with console.capture() as captured:
        console.print(view(levers_of(recorded(tmp_path))))
    shown = captured.get()
    assert "placement: not taken, expected saving 1% [-10%, 10%]: kept" in shown
    assert "relays: taken, not considered: asked for" in shown


USED = {
    "operation": "bcast", "message_bytes": 65536, "method": "forest_8k", "end": "used",
    "predicted_s": 0.01, "native_s": 0.08, "schedule_s": 0.02,
}  # fmt: skip


@pytest.mark.parametrize(
    ("did", "sentence"),
    [
        ({"schedules": [USED]}, "by schedules bcast of 64 KiB by forest_8k (75% less time)"),
        ({"schedules": []}, "all by the MPI; no call was made often enough to compare schedules"),
        ({"relays": {"routers_bytes": 3 << 20}}, "routers carried 3 MiB"),
        ({"schedules": [{"end": "later"}]}, ""),
        ({"relays": None}, ""),
        (None, ""),
    ],
)
def test_what_a_lever_of_a_first_run_did_follows_the_reason(did: object, sentence: str) -> None:
    facts = {"is_considered": True, "is_taken": True, "why": "promising", "did": did}
    assert did_sentence(facts) == sentence

    steps = {
        "decision": {"levers": {"collectives": facts}},
        "expected": {"features": {"collectives": {"is_taken": True, "why": "promising"}}},
    }
    assert f"promising; what it did: {sentence}" in decision_body(steps) or not sentence


def test_a_folder_without_a_decision_has_none(tmp_path: Path) -> None:
    assert levers_of(tmp_path) == {}
    (tmp_path / "run.json").write_text("not a record")
    assert levers_of(tmp_path) == {}


def test_runs_list_what_was_taken(tmp_path: Path) -> None:
    recorded(tmp_path)
    (run,) = past_runs(tmp_path)
    assert run.levers["relays"]["is_taken"] is True


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ({}, ""),
        ({"learned": {"difference": 0.001, "is_corrected": False}}, ""),
        (
            {"learned": {"difference": 0.4, "is_corrected": True}},
            "The traffic was corrected: this run's own differs from it by 40.0%.",
        ),
        (
            {"guess": {"arguments": ["-n", "2"]}, "learned": {"difference": 0.004}},
            "The traffic was guessed from a run with -n 2: this run's own differs from it by 0.4%.",
        ),
        (
            {"guess": {"arguments": []}},
            "The traffic was guessed from a run with no arguments: it was not seen whether that is "
            "right.",
        ),
    ],
)
def test_what_was_guessed_and_corrected_is_a_sentence(
    steps: dict[str, dict[str, object]], sentence: str
) -> None:
    assert describe_learned(steps) == sentence
