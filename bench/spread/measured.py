#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the simulator ranks placements of two jobs like their measured times.

Two MPI programs run at the same time on shared hosts of an emulated cloud, placed by each method
and at random, in turns. The simulator gets their traces, taken in a cloud whose interfaces do not
limit, and a machine with the lab's rates. Kendall's tau: 1 is the same order, -1 the reverse.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.act.launch import LaunchSpec, detect, read_hostfile
from fairlead.decide.jobs import JOB_METHODS, SharedHosts
from fairlead.decide.jobs.methods.spread import SpreadOptions, spread_by
from fairlead.decide.jobs.methods.thresholds import THRESHOLDS
from fairlead.flows.compare.statistics import (
    Interval,
    kendall_tau_interval,
    kendall_tau_of_repeats,
    mean_interval,
)
from fairlead.lab import Lab
from fairlead.simulation import simulate_each

sys.path.append(str(Path(__file__).parents[1] / "objective"))
import running

PROGRAMS = ("cg", "stencil")
HOSTS = 8
RANKS_PER_HOST = 2  # For each job, on average.
NUMBER = 12
REPEATS = 5
TRACED = 3
SCENARIO = 'name = "shared"\nhosts = {hosts}\nslots = {slots}\nnic = "{nic}"\n'
SLOTS = 6
NIC = "50Mbit/s"  # Slow enough that the interfaces are the limit, and not this machine's cores.
UNLIMITED = "10Gbit/s"
PAYLOAD_RATIO = 0.993  # Part of the bytes on the wire, which the lab shapes (docs/howto/lab.md).
LOOPS = ("open", "closed")
METRICS: dict[str, Callable[[fl.SimulationResult], float]] = {
    "waiting_time_s": lambda result: result.waiting_time_s,
    "finish_time_s": lambda result: result.finish_time_s,
    "total_finish_time_s": lambda result: result.total_finish_time_s,
}


def main() -> None:
    options = parsed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traffics = traced(folder, options.hosts, 1 if options.short else TRACED)
        with Lab.up(scenario(folder, options.hosts, options.nic)) as lab:
            hosts = shared_hosts(lab, folder)
            jobs = [
                fl.Job.from_traffic(traffic, traffic.run_time_s, program)
                for program, traffic in traffics.items()
            ]
            workload = fl.Workload("cg and stencil", jobs, hosts.machine)
            chosen = placements(workload, options.number, options.seed)
            predicted = {
                loop: simulate_each(workload, chosen, fl.SimulationOptions(loop=loop))
                for loop in LOOPS
            }
            times_s = measured(lab, hosts, workload, chosen, repeats=options.repeats, folder=folder)
    console = Console(width=170)
    title = (
        f"{' and '.join(PROGRAMS)}, {RANKS_PER_HOST * options.hosts} ranks each, on "
        f"{options.hosts} hosts with {SLOTS} slots and {options.nic}; {options.repeats} "
        "interleaved runs, 95 % intervals"
    )
    console.print(times_table(title, chosen, predicted["open"], times_s))
    console.print(tau_table(predicted, times_s, options.seed))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help="3 placements, 2 runs, quick interfaces"
    )
    parser.add_argument("--number", type=int, help=f"different placements; default {NUMBER}")
    parser.add_argument("--repeats", type=int, help=f"runs of each; default {REPEATS}")
    parser.add_argument("--nic", help=f"rate of the interfaces; default {NIC}")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.number = options.number or (3 if options.short else NUMBER)
    options.repeats = options.repeats or (2 if options.short else REPEATS)
    options.hosts = 4 if options.short else HOSTS
    options.nic = options.nic or ("800Mbit/s" if options.short else NIC)
    if options.number < 3 or options.repeats < 2:
        parser.error("at least 3 placements and 2 runs of each are needed")
    return options


def scenario(folder: Path, hosts: int, nic: str) -> Path:
    file = folder / "shared.toml"
    file.write_text(SCENARIO.format(hosts=hosts, slots=SLOTS, nic=nic))
    return file


def traced(folder: Path, hosts: int, runs: int) -> dict[str, fl.Traffic]:
    """Traffic of each program alone, where its own speed decides when it sends.

    The quickest of some runs shows that speed best: others only slow a program down.
    """
    with Lab.up(scenario(folder, hosts, UNLIMITED)) as lab:
        return {
            name: min(
                (running.traced(lab, name, folder, RANKS_PER_HOST * hosts) for _run in range(runs)),
                key=lambda traffic: traffic.run_time_s,
            )
            for name in PROGRAMS
        }


def shared_hosts(lab: Lab, folder: Path) -> SharedHosts:
    """The simulator's machine file for the lab."""
    (nic_Bps,) = set(lab.topology().nic_Bps)
    file = folder / "machine.toml"
    file.write_text(f'[machine]\nnic = "{PAYLOAD_RATIO * nic_Bps:.0f}B/s"\n')
    return SharedHosts.of(read_hostfile(lab.hostfile), machine_file=file)


def placements(workload: fl.Workload, number: int, seed: int) -> list[fl.JobsPlacement]:
    """Different ones: by each method, by other thresholds of spread, then at random."""
    machine = workload.machine
    found = [fl.place_jobs(workload, method, seed=seed) for method in JOB_METHODS]
    rng = np.random.default_rng(seed)
    found.append(at_random(workload, rng, 0))
    for threshold in THRESHOLDS:
        cores = spread_by(workload, SpreadOptions(threshold=threshold))
        found.append(fl.JobsPlacement(machine, cores, f"spread, {threshold}"))
    found += [at_random(workload, rng, index) for index in range(1, number + 1)]
    different = {}
    for placement in found:
        nodes = [placement.node_of_rank(job).tolist() for job in range(len(workload.jobs))]
        different.setdefault(str(nodes), placement)
    return list(different.values())[:number]


def at_random(workload: fl.Workload, rng: np.random.Generator, index: int) -> fl.JobsPlacement:
    """Cores drawn anew from the first hosts that have enough, or from all, in turns."""
    free = workload.machine.free_cores()
    if index % 2:
        free = free[: workload.num_ranks]
    drawn = rng.permutation(free)[: workload.num_ranks]
    cores = np.split(drawn, np.cumsum([job.num_ranks for job in workload.jobs])[:-1])
    return fl.JobsPlacement(workload.machine, cores, f"random {index}")


def measured(
    lab: Lab,
    hosts: SharedHosts,
    workload: fl.Workload,
    chosen: list[fl.JobsPlacement],
    *,
    repeats: int,
    folder: Path,
) -> np.ndarray:
    """Seconds that each program prints, shape (P, R, J); each repeat runs every placement once."""
    launcher = detect()
    commands = [
        [
            launcher.prepare_command(
                LaunchSpec(
                    running.command_of(job.name), job.num_ranks, hosts.cluster, placement,
                    launcher_args=running.of_its_own(folder / job.name),
                    shares_hosts=True,
                ),
                folder,
            )
            for job, placement in zip(workload.jobs, hosts.placements(placed), strict=True)
        ]
        for placed in chosen
    ]  # fmt: skip
    times_s = np.full((len(chosen), repeats, len(workload.jobs)), np.nan)
    clock = running.Clock(len(chosen) * repeats)
    rng = np.random.default_rng(0)
    with ThreadPoolExecutor(len(workload.jobs)) as pool:
        for repeat in range(repeats):
            # In another order each time: none always runs behind the same other one.
            for index in rng.permutation(len(chosen)):
                started_s = time.monotonic()
                runs = pool.map(lambda command: running.timed(lab, command), commands[index])
                times_s[index, repeat] = list(runs)
                clock.tick(time.monotonic() - started_s)
    return times_s


def times_table(
    title: str,
    chosen: list[fl.JobsPlacement],
    predicted: list[fl.SimulationResult],
    times_s: np.ndarray,
) -> Table:
    table = Table(title=title)
    columns = (*METRICS, *(f"{name}, measured" for name in PROGRAMS), "last end", "sum")
    for column in ("placement", *columns):
        table.add_column(column, justify="left" if column == "placement" else "right")
    for placement, result, runs_s in zip(chosen, predicted, times_s, strict=True):
        cells = [f"{metric(result):.2f}" for metric in METRICS.values()]
        for values in (*runs_s.T, *(ends(runs_s) for ends in ENDS.values())):
            cells.append(shown(mean_interval(values.tolist())))
        table.add_row(placement.method, *cells)
    return table


ENDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "last end": lambda times_s: times_s.max(axis=-1),
    "sum": lambda times_s: times_s.sum(axis=-1),
}
"""What is compared with a prediction, from the jobs' times along the last axis."""


def tau_table(
    predicted: dict[str, list[fl.SimulationResult]], times_s: np.ndarray, seed: int
) -> Table:
    table = Table(title="Kendall's tau with the measured time, 95 % bootstrap intervals")
    for column in ("predicted", *ENDS):
        table.add_column(column, justify="left" if column == "predicted" else "right")
    for loop, results in predicted.items():
        for name, metric in METRICS.items():
            values = [metric(result) for result in results]
            taus = [kendall_tau_interval(values, ends(times_s), seed) for ends in ENDS.values()]
            table.add_row(f"{name}, {loop} loop", *map(shown, taus))
    repeats = [kendall_tau_of_repeats(ends(times_s)) for ends in ENDS.values()]
    table.add_row("runs with runs", *(f"{tau:.2f}" for tau in repeats))
    return table


def shown(interval: Interval) -> str:
    if math.isnan(interval.value):  # All placements are predicted alike, which ranks nothing.
        return "-"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


if __name__ == "__main__":
    main()
