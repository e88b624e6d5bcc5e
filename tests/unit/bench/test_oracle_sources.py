# SPDX-License-Identifier: Apache-2.0
"""Samples of sources against numbers computed by hand, as bench/oracle/sources.py prints them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "bench" / "oracle" / "sources.py"
SAMPLES = Path(__file__).parents[2] / "golden" / "oracle" / "exporters"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_every_sample_has_a_number_by_hand(rows: list[dict[str, object]]) -> None:
    assert {row["file"] for row in rows} == {path.name for path in SAMPLES.glob("*.txt")}


def test_every_number_is_found_by_the_source(rows: list[dict[str, object]]) -> None:
    assert len(rows) > 50
    assert [row for row in rows if row["found"] != pytest.approx(row["expected"], rel=1e-6)] == []
