#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One host at half the speed: does the default place ranks by it, and how near is it to the best?

A cloud of four hosts, each with its own share of this machine's processors by a quota; the second
one has half. The programs have as many ranks as the hosts have slots, so the slow host is in use.
For each the program is traced and the hosts are probed once. Then the program's own time is
measured in turns, in another order each round: of the launcher's placement, of that by `optimize`
with the hosts weighed and not weighed, and of random placements. Only `--uneven` may give a host
more ranks than slots, up to twice as many. The best random one is the one with the least median.

Printed are medians in seconds, and the time of each row as part of the best random placement's.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "objective"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kept_tables import add_tables_option, write_tables
from programs import Program, command_of, timed, traced
from running import probed

import fairlead as fl
from fairlead.act.launch import read_hostfile
from fairlead.decide.hosts.stragglers import straggler_lines
from fairlead.lab import Lab, Scenario

SLOW = "h1"
SCENARIO = {"name": "slow-host", "hosts": 4, "slots": 2, "nic": "400Mbit/s", "speed": {SLOW: 0.5}}
NUM_RANKS = SCENARIO["hosts"] * SCENARIO["slots"]
PROGRAMS = {
    "nbody": Program(("nbody", "--bodies", "3000", "--steps", "30"), num_ranks=NUM_RANKS),
    "fft": Program(("fft", "--size", "64", "--systems", "2"), num_ranks=NUM_RANKS),
}
RANDOM_PLACEMENTS = 20
ROUNDS = 10


def main() -> None:
    options = parsed()
    rows = Table(title=f"program's own time, {SLOW} at half the speed")
    for heading in ("program", "placement", f"ranks on {SLOW}", "median (s)", "of the best random"):
        rows.add_column(heading)
    with (
        tempfile.TemporaryDirectory() as folder,
        Lab.up(Scenario.model_validate(SCENARIO)) as lab,
    ):
        for name in options.program:
            add_rows(rows, lab, name, options, Path(folder) / name)
    Console(width=140).print(rows)
    write_tables(options.tables, rows)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="nbody, 2 placements, 1 round")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="repeatable")
    parser.add_argument("--placements", type=int, help=f"random ones; default: {RANDOM_PLACEMENTS}")
    parser.add_argument("--rounds", type=int, help=f"default: {ROUNDS}")
    add_tables_option(parser)
    options = parser.parse_args()
    options.program = options.program or (["nbody"] if options.short else [*PROGRAMS])
    options.placements = options.placements or (2 if options.short else RANDOM_PLACEMENTS)
    options.rounds = options.rounds or (1 if options.short else ROUNDS)
    options.argument = ["--steps", "5"] if options.short else []
    return options


def add_rows(rows: Table, lab: Lab, name: str, options: argparse.Namespace, folder: Path) -> None:
    """Measure one program and add its rows."""
    arguments = (*PROGRAMS[name].command, *options.argument)
    program = dataclasses.replace(PROGRAMS[name], command=arguments)
    folder.mkdir()
    traffic = traced(lab, program, folder / "traced")
    network = probed(lab, folder, ())
    print(*straggler_lines(network), sep="\n", flush=True)
    cluster = read_hostfile(lab.hostfile)
    placements = placements_of(traffic, network, cluster, options.placements)
    times_s = measure(lab, program, [*placements.values()], options.rounds, folder)
    medians_s = dict(zip(placements, np.median(times_s, axis=1), strict=True))
    best = min((one for one in medians_s if one.startswith("random")), key=medians_s.__getitem__)
    shown = [one for one in placements if not one.startswith("random")]
    for label in (*shown, best):
        num_slow = len(placements[label].ranks_on(SLOW))
        title = f"best of {options.placements} random" if label == best else label
        ratio = medians_s[label] / medians_s[best]
        rows.add_row(name, title, str(num_slow), f"{medians_s[label]:.2f}", f"{ratio:.2f}")


def placements_of(
    traffic: fl.Traffic, network: fl.Network, cluster: fl.Cluster, num_random: int
) -> dict[str, fl.Placement]:
    """All placements by their names."""
    found = {
        "launcher": fl.place(traffic, network, cluster, "launcher"),
        "default, hosts weighed": fl.place(traffic, network, cluster),
        "default --uneven": fl.place(traffic, network, with_spare_slots(cluster), uneven=True),
        "hosts not weighed": fl.place(traffic, network, cluster, weigh_hosts=False),
    }
    for seed in range(num_random):
        found[f"random {seed}"] = fl.place(traffic, network, cluster, "random", seed=seed)
    return found


def with_spare_slots(cluster: fl.Cluster) -> fl.Cluster:
    """Each host with twice its slots, so that ranks of a slow one have a place on others."""
    return dataclasses.replace(cluster, slots=tuple(2 * each for each in cluster.slots), given=None)


def measure(
    lab: Lab, program: Program, placements: list[fl.Placement], rounds: int, folder: Path
) -> np.ndarray:
    """Seconds that the program prints, shape (placements, rounds)."""
    times_s = np.zeros((len(placements), rounds))
    random = np.random.default_rng(0)
    spacious = with_spare_slots(read_hostfile(lab.hostfile))
    for turn in range(rounds):
        for index in random.permutation(len(placements)):
            place = folder / f"place-{index}-{turn}"
            command = command_of(lab, program, placements[index], place, spacious)
            times_s[index, turn] = timed(lab, program, command, folder / "run")
    return times_s


if __name__ == "__main__":
    main()
