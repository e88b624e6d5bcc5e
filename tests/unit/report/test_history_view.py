# SPDX-License-Identifier: Apache-2.0
"""What the terminal shows of a program's runs."""

from __future__ import annotations

import pytest

from fairlead.report.history_view import drift_sentence
from fairlead.watch.collective_drift import DriftCounts


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (DriftCounts(), "collectives were watched: too few calls for a comparison"),
        (
            DriftCounts(calls=64, windows=4),
            "collectives were watched: 64 calls, 0 of 4 windows drifted",
        ),
        (
            DriftCounts(
                calls=64, windows=4, drifts=1, probes=1, comparisons=1, longest_stop_s=0.21
            ),
            "collectives were watched: 64 calls, 1 of 4 windows drifted; 1 probes, at most 0.21 s "
            "each; 0 of 1 other schedules, or the MPI's own calls, were faster and are used",
        ),
    ],
)
def test_counts_make_a_sentence(counts: DriftCounts, sentence: str) -> None:
    assert drift_sentence(counts) == sentence
