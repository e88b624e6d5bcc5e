#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `fairlead probe --contention` finds in the emulated cloud, where the truth is known.

On `two-racks`, whether both racks are found exactly, and how far each uplink's capacity is off; on
`flat` and `pairwise`, how many groups are invented. Each seed draws which host is in which rack, or
the rate of every pair anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from probing import parsed, parser_of, probed
from rich.console import Console
from rich.table import Table

from fairlead.lab import Lab, Scenario
from fairlead.lab.topology import Topology
from fairlead.model.network import Network


class Outcome(NamedTuple):
    """One run: whether its groups are those of the lab, and what it took."""

    is_exact: bool
    num_groups: int
    errors_percent: list[float]
    num_steps: int
    probing_s: float


def main() -> None:
    parser = parser_of(__doc__, short="one seed of two-racks with 4 hosts")
    parser.add_argument("--seeds", type=int, default=20)
    options = parsed(parser)
    num_seeds = 1 if options.short else options.seeds
    num_hosts = 4 if options.short else 8
    table = Table(title=f"fairlead probe --contention, {num_hosts} hosts, {num_seeds} seeds each")
    for column in ("scenario", "exact", "groups", "largest capacity error", "steps", "time"):
        table.add_column(column, justify="left" if column == "scenario" else "right")
    for scenario in ("two-racks",) if options.short else options.scenarios:
        outcomes = [measure(scenario, seed, num_hosts) for seed in range(1, num_seeds + 1)]
        table.add_row(scenario, *cells(outcomes))
    Console().print(table)


def cells(outcomes: list[Outcome]) -> list[str]:
    errors = [error for outcome in outcomes for error in outcome.errors_percent]
    return [
        f"{sum(outcome.is_exact for outcome in outcomes)} of {len(outcomes)}",
        str(sum(outcome.num_groups for outcome in outcomes)),
        f"{max(errors):.1f} %" if errors else "-",
        f"{np.median([outcome.num_steps for outcome in outcomes]):.0f}",
        f"{np.median([outcome.probing_s for outcome in outcomes]):.0f} s",
    ]


def measure(name: str, seed: int, num_hosts: int) -> Outcome:
    with Lab.up(drawn(name, seed), hosts=num_hosts) as lab:
        return judged(probed(lab, ["--contention"]), lab.topology())


def drawn(name: str, seed: int) -> Scenario:
    """The scenario with all its random values drawn anew."""
    fields = Scenario.load(name).model_dump() | {"order_seed": seed}
    if fields["pairs"] is not None:
        fields["pairs"]["seed"] = seed
    return Scenario.model_validate(fields)


def judged(network: Network, topology: Topology) -> Outcome:
    rack = np.array(topology.rack_of_host)
    # With two racks, what leaves one enters the other: one group in each direction.
    expected = {
        (frozenset(np.flatnonzero(rack == a)), frozenset(np.flatnonzero(rack == b)))
        for a in range(topology.num_racks)
        for b in range(topology.num_racks)
        if a != b
    }
    found = [(frozenset(group.src_hosts), frozenset(group.dst_hosts)) for group in network.groups]
    contention = network.origin["contention"]
    return Outcome(
        is_exact=len(found) == len(expected) and set(found) == expected,
        num_groups=len(found),
        errors_percent=[
            100 * abs(group.capacity_Bps / min(topology.uplink_Bps) - 1)
            for group in network.groups
            if topology.uplink_Bps
        ],
        num_steps=contention["num_steps"],
        probing_s=contention["probing_s"],
    )


if __name__ == "__main__":
    main()
