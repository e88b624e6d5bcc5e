#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap figures 6 to 11 and 13 at 64 and 256 ranks: our examples in SimGrid's SMPI.

The programs are the same as in the lab, and so are the scenarios, with 8 ranks a host. Each is
traced once, placed by every method and both metrics, and run by SMPI, where only communication
takes time: the same figures on every machine. The network is what a perfect probe would find.

Where Fairlead was built for SMPI (`fairlead mpi add --mpicxx smpicxx`), programs are traced there,
in one process; else by real MPI on this machine, for which 256 ranks are many.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import paper
import smpi
from candidates import alike, candidates
from programs import PROGRAMS, traced_here
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.lab import Scenario
from fairlead.lab.topology import draw_topology

sys.path.append(str(Path(__file__).parents[1] / "objective"))
from running import shaped

EXAMPLES = ("cg", "stencil", "fft")
SCENARIOS = ["two-racks", "pairwise", "flat"]
RANKS_PER_HOST = 8
DRAWS = 5  # Of methods with random choices.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="cg at 16 ranks on two-racks")
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument("--program", action="append", choices=EXAMPLES, help="repeatable")
    parser.add_argument("--ranks", action="append", type=int, help="instead of 64 and 256")
    parser.add_argument("--draws", type=int, help=f"of what is left to chance; default: {DRAWS}")
    options = parser.parse_args()
    scenarios = options.scenario or (["two-racks"] if options.short else SCENARIOS)
    programs = options.program or (["cg"] if options.short else list(EXAMPLES))
    sizes = options.ranks or ([16] if options.short else [64, 256])
    num_draws = options.draws or (1 if options.short else DRAWS)
    console = Console(width=150)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for num_ranks in sizes:
            traffic_of = {program: traced(program, num_ranks, folder) for program in programs}
            for scenario in scenarios:
                columns = {
                    program: times_s(program, scenario, traffic_of[program], num_draws, folder)
                    for program in programs
                }
                console.print(table(f"{num_ranks} ranks on {scenario}", columns, num_draws))
    console.print(paper.beside("figures 6 to 11", "figure 13"))


def traced(program: str, num_ranks: int, folder: Path) -> fl.Traffic:
    """The traffic of a program, which does not depend on the network."""
    tracer = smpi.tracer()
    if tracer is None:
        return traced_here(program, num_ranks, folder / f"{program}.{num_ranks}.npz")
    linked = folder / "linked"
    linked.mkdir(exist_ok=True)
    network = network_of("flat", num_ranks)
    arguments = PROGRAMS[program].command[1:]
    return smpi.traced(smpi.built(program, linked, tracer), arguments, network, num_ranks, linked)


def network_of(scenario: str, num_ranks: int) -> fl.Network:
    """The true rates of a scenario with hosts for so many ranks."""
    return shaped(draw_topology(Scenario.load(scenario, num_ranks // RANKS_PER_HOST)))


def times_s(
    program: str, scenario: str, traffic: fl.Traffic, num_draws: int, folder: Path
) -> dict[str, list[float]]:
    """Simulated times of each method's placements."""
    network = network_of(scenario, traffic.num_ranks)
    cluster = fl.Cluster.uniform(network.hosts, RANKS_PER_HOST)
    built = smpi.built(program, folder)
    placements = candidates(traffic, network, cluster, num_draws)
    # In a simulation the launcher's own placement is the same as when it is given.
    same_as = alike(placements) | {"launcher": "launcher", "blocked": "launcher"}
    found: dict[str, list[float]] = {}
    for method, its_placements in placements.items():
        if same_as[method] != method:
            found[method] = found[same_as[method]]
            continue
        arguments = PROGRAMS[program].command[1:]
        found[method] = [
            smpi.run(built, arguments, network, placement, folder) for placement in its_placements
        ]
    return found


def table(title: str, columns: dict[str, dict[str, list[float]]], num_draws: int) -> Table:
    """A row per method: simulated speed against the launcher's placement, of each program."""
    result = Table(title=f"{title}, simulated: speed, x (range of {num_draws} draws)")
    result.add_column("method")
    for program, found in columns.items():
        result.add_column(f"{program}, {found['launcher'][0]:.3g} s", justify="right")
    for method in next(iter(columns.values())):
        cells = []
        for found in columns.values():
            speeds = found["launcher"][0] / np.array(found[method])
            shown = f"{len(speeds) / np.sum(1 / speeds):.2f}"
            cells.append(
                shown if len(speeds) == 1 else f"{shown} ({speeds.min():.2f}-{speeds.max():.2f})"
            )
        result.add_row(method, *cells)
    return result


if __name__ == "__main__":
    main()
