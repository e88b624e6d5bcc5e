# SPDX-License-Identifier: Apache-2.0
"""Each cost has one name for readers, and the reference explains it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from fairlead.flows.compare.comparison import PredictedCost
from fairlead.model.cost import Cost
from fairlead.model.cost_names import COST_NAMES

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "costs.md"


@pytest.mark.parametrize("fields", [dataclasses.fields(Cost), PredictedCost.model_fields])
def test_each_cost_has_a_name(fields: object) -> None:
    names = [getattr(field, "name", field) for field in fields]  # type: ignore[attr-defined]
    assert [name for name in names if name != "weighted_sum"] == list(COST_NAMES)


def test_the_reference_has_the_same_names() -> None:
    text = REFERENCE.read_text()
    for field, name in COST_NAMES.items():
        assert f"| `{field}` | {name} |" in text
