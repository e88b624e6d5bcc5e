# SPDX-License-Identifier: Apache-2.0
"""Costs of placements side by side: in the terminal, and as facts for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from fairlead.decide.placement import METRICS
from fairlead.model.cost import Cost, TreeCost
from fairlead.model.cost_names import COST_NAMES
from fairlead.model.placement import Placement
from fairlead.report.terminal_table import table
from fairlead.units import format_duration, format_size

UNKNOWN = "-"


def facts(
    placement: Placement, cost: Cost | TreeCost | None, launcher_cost: Cost | TreeCost | None
) -> dict[str, Any]:
    """A placement with its costs and those of the launcher's own; None where they are unknown."""
    return {
        "method": placement.method,
        "hosts": list(placement.hosts),
        "host_of_rank": placement.host_of_rank.tolist(),
        "cost": None if cost is None else cost.as_dict(),
        "launcher_cost": None if launcher_cost is None else launcher_cost.as_dict(),
    }


def view(costs: Mapping[str, Cost | TreeCost | None]) -> Table:
    """A row for each kind of cost, a column for each method."""
    shown = table(["", *costs])
    rows = [{} if cost is None else _texts(cost) for cost in costs.values()]
    for name in max(rows, key=len):
        shown.add_row(name, *(row.get(name, UNKNOWN) for row in rows))
    return shown


def _texts(cost: Cost | TreeCost) -> dict[str, str]:
    """Each cost by its name; of a tree the sums in the unit of its costs."""
    shown = {
        name: cost_text(field, getattr(cost, field))
        for field, name in COST_NAMES.items()
        if getattr(cost, field, None) is not None
    }
    if isinstance(cost, TreeCost):
        shown |= {f"{metric} times cost": f"{cost.weighted_sum[metric]:.4g}" for metric in METRICS}
    return shown


def cost_text(field: str, value: float | None) -> str:
    """One cost as text; the field's name gives its unit."""
    if value is None:
        return UNKNOWN
    return format_size(value) if field.endswith("_bytes") else format_duration(value)
