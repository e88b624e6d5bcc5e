# SPDX-License-Identifier: Apache-2.0
"""An objective is chosen on one draw of the clouds and judged on the other."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.flows.compare.statistics import Interval

FOLDER = Path(__file__).parents[3] / "bench" / "objective"
CLOUDS = ("pairwise-0", "pairwise-1", "two-racks-0", "two-racks-1")


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module("judging")
    for name in set(sys.modules) - before:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def test_halves_are_draws_in_the_order_of_names(judging: Any) -> None:
    # By names each second series is of the other program, so halves of these would be alike.
    def row(cloud: str, program: str) -> Any:
        best = {"0": "sum, bytes", "1": "bottleneck_s"}[cloud[-1]]
        taus = {name: Interval(0.9 if name == best else 0.5, 0.1, 1.0) for name in judging.COSTS}
        series = judging.Series(cloud, program, None, None, [], np.zeros((1, 1)))
        return judging.Row(series, 0.8, taus)

    rows = [row(cloud, program) for cloud in CLOUDS for program in ("cg", "stencil")]
    first, second = judging.sentences(rows)

    assert first.startswith("Chosen on 4 series of the first draw: sum 0.90, bottleneck 0.50, ")
    assert "sum against bottleneck, the best there: -0.40" in first
    assert second.startswith("Chosen on 4 series of the second draw: sum 0.50, bottleneck 0.90, ")
    assert "bottleneck against sum, the best there: -0.40" in second
