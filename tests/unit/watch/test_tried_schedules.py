# SPDX-License-Identifier: Apache-2.0
"""Which schedules processes have tried, read back from what they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.watch.tried_schedules import TriedSchedule, load_tried


def entry(**fields: Any) -> dict[str, Any]:
    """As the preload library writes it."""
    return {
        "operation": "bcast",
        "message_bytes": 65536,
        "method": "forest_8k",
        "end": "used",
        "predicted_s": 0.01,
        "native_s": 0.08,
        "schedule_s": 0.02,
    } | fields


def test_those_of_all_processes_are_put_in_order(tmp_path: Path) -> None:
    first, second = entry(operation="reduce"), entry(message_bytes=1)
    (tmp_path / "schedules-0.json").write_text(json.dumps({"tried": [first]}))
    (tmp_path / "schedules-3.json").write_text(json.dumps({"tried": [second]}))
    (tmp_path / "schedules-4.json").write_text('{"tried": [')  # Cut off, so it counts as missing.

    assert load_tried(tmp_path) == [TriedSchedule(**second), TriedSchedule(**first)]


def test_without_a_file_nothing_was_tried(tmp_path: Path) -> None:
    assert load_tried(tmp_path) == []


def test_what_a_schedule_saves_is_measured_where_it_was_and_else_predicted() -> None:
    assert TriedSchedule(**entry()).saved_ratio == pytest.approx(0.75)
    unpromising = TriedSchedule(**entry(end="unpromising", schedule_s=0.0))
    assert unpromising.saved_ratio == pytest.approx(0.875)
    assert not unpromising.is_used
