# SPDX-License-Identifier: Apache-2.0
"""What placements cost, side by side: in the terminal, and the same facts for machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from fairlead.model.cost import Cost
from fairlead.model.cost_names import COST_NAMES
from fairlead.model.placement import Placement
from fairlead.units import format_duration, format_size

UNKNOWN = "-"


def facts(placement: Placement, cost: Cost | None, launcher_cost: Cost | None) -> dict[str, Any]:
    """A placement with its costs and those of the launcher's own; None where they are unknown."""
    return {
        "method": placement.method,
        "hosts": list(placement.hosts),
        "host_of_rank": placement.host_of_rank.tolist(),
        "cost": None if cost is None else cost.as_dict(),
        "launcher_cost": None if launcher_cost is None else launcher_cost.as_dict(),
    }


def view(costs: Mapping[str, Cost | None]) -> Table:
    """A row for each kind of cost, a column for each method."""
    table = Table("", *costs, box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for field, name in COST_NAMES.items():
        values = (None if cost is None else getattr(cost, field) for cost in costs.values())
        table.add_row(name, *(cost_text(field, value) for value in values))
    return table


def cost_text(field: str, value: float | None) -> str:
    """One cost for people; its unit is that of the field's name."""
    if value is None:
        return UNKNOWN
    return format_size(value) if field.endswith("_bytes") else format_duration(value)
