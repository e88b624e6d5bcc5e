# SPDX-License-Identifier: Apache-2.0
"""Every recorded sample of a source says what was computed of it by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "bench" / "oracle"))

from sources import SAMPLES, Row, rows

ROWS = list(rows())
BANDWIDTHS = {"carried_Bps", "bw"}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.file}-{row.way}-{row.quantity}" for row in ROWS])
def test_a_sample_says_what_follows_of_it_by_hand(row: Row) -> None:
    assert row.found == pytest.approx(row.expected, rel=1e-6)


def test_every_sample_has_numbers_of_its_bandwidth() -> None:
    """Bytes a second, or their part of the capacity where the source has that alone."""
    files = {path.name for path in SAMPLES.glob("*.txt")}

    assert {row.file for row in ROWS if row.quantity in BANDWIDTHS} == files
