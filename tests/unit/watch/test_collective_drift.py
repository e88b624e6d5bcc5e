# SPDX-License-Identifier: Apache-2.0
"""What processes of a run did about drifting collectives, put together and reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.watch.collective_drift import DriftCounts, drift_counts


def leave(folder: Path, rank: int, **counts: float) -> None:
    """As the preload library does it."""
    zeros = dict.fromkeys(DriftCounts.model_fields, 0)
    (folder / f"drift-{rank}.json").write_text(json.dumps(zeros | counts))


def test_counts_of_processes_add_up_and_the_longest_stop_stays(tmp_path: Path) -> None:
    leave(tmp_path, 0, calls=100, windows=4, drifts=1, probes=1, longest_stop_s=0.2)
    leave(tmp_path, 7, calls=20, comparisons=1, replacements=1, longest_stop_s=0.1)
    leave(tmp_path, 8, windows=1, agreements_s=0.25)
    leave(tmp_path, 9, agreements_s=0.5)

    assert drift_counts(tmp_path) == DriftCounts(
        calls=120,
        windows=5,
        drifts=1,
        probes=1,
        comparisons=1,
        replacements=1,
        agreements_s=0.75,
        longest_stop_s=0.2,
    )


def test_without_a_file_nothing_was_watched(tmp_path: Path) -> None:
    assert drift_counts(tmp_path) is None


@pytest.mark.parametrize("text", ["{", '{"calls": -1}', '{"other": 1}'])
def test_a_damaged_file_counts_as_missing(tmp_path: Path, text: str) -> None:
    (tmp_path / "drift-0.json").write_text(text)

    assert drift_counts(tmp_path) is None
