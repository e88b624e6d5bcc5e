#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives of real MPIs in the emulated cloud: the MPI's own algorithms against tuned ones.

In each cloud `fairlead tune` measures the network and decides. Then every call is made again, in
new processes, by the MPI's own algorithm and by what was decided, in turns: what was chosen for a
short time would otherwise look better than it is. Printed are the median times, and the saving with
the 95 % interval of the median of paired ratios. Where the MPI's own was kept there is nothing to
compare.

All hosts share this machine's processors. MPICH's ranks wait busily; yielding.c lets them give the
processor away, as Open MPI's do, in all that is compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from yielding import yielding_library

from fairlead.act.launch import detect
from fairlead.decide.collectives.choosing import Choice
from fairlead.decide.paired_median import paired_gain
from fairlead.flows.request import NetworkRequest
from fairlead.flows.tune.flow import TuneRequest, Tuning, schedule_candidates, tune
from fairlead.lab import Lab
from fairlead.measure.collective_times import TimedCall, TuningProgram
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator
from fairlead.units import format_duration, format_size, parse_size

SCENARIOS = ("two-racks", "pairwise", "flat")
OPERATIONS = ("bcast", "reduce", "allreduce", "allgather")
SIZES = tuple(4**exponent << 16 for exponent in range(4))  # 64 KiB to 4 MiB
MPIS = ("openmpi", "mpich")
LIMIT_S = 600.0
"""Limit on the second measurement of one call."""


def main() -> None:
    options = parsed()
    if options.inside:
        print(json.dumps(measured(options)))
        return
    console = Console(width=140)
    with tempfile.TemporaryDirectory() as folder:
        environments = {mpi: environment(mpi, Path(folder)) for mpi in options.mpi}
        for scenario, mpi in itertools.product(options.scenario, options.mpi):
            with Lab.up(scenario) as lab:
                found = inside(lab, environments[mpi], options)
                console.print(table(f"{scenario}, {mpi}", found))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="bcast of 256 KiB on two-racks")
    parser.add_argument("--scenario", action="append", help="instead of all three; repeatable")
    parser.add_argument("--mpi", action="append", choices=MPIS, help="repeatable")
    parser.add_argument("--operation", action="append", choices=OPERATIONS, help="repeatable")
    parser.add_argument("--size", action="append", type=parse_size, help="repeatable")
    parser.add_argument("--rounds", type=int, help="of the second measurement; default: 20")
    parser.add_argument("--budget", type=float, default=180.0, help="of tuning, in seconds")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.scenario = options.scenario or (["two-racks"] if options.short else [*SCENARIOS])
    options.mpi = options.mpi or (["openmpi"] if options.short else [*MPIS])
    options.operation = options.operation or [*OPERATIONS[: 1 if options.short else None]]
    options.size = options.size or [*(SIZES[1:2] if options.short else SIZES)]
    options.rounds = options.rounds or (2 if options.short else 20)
    return options


def environment(mpi: str, folder: Path) -> dict[str, str]:
    """In which this MPI's programs run."""
    env = {**os.environ, "FAIRLEAD_MPIRUN": f"mpirun.{mpi}"}
    if mpi == "mpich":
        env["LD_PRELOAD"] = str(yielding_library(folder))
    return env


def inside(lab: Lab, env: Mapping[str, str], options: argparse.Namespace) -> dict:
    """What this program finds on a host of the cloud."""
    calls = [f"--operation={one}" for one in options.operation]
    calls += [f"--size={one}B" for one in options.size]
    limits = ["--rounds", str(options.rounds), "--budget", str(options.budget)]
    command = [sys.executable, __file__, "--inside", *calls, *limits]
    done = lab.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout.splitlines()[-1])


def measured(options: argparse.Namespace) -> dict:
    """Decides, and measures again: 16 ranks on 8 hosts."""
    hosts = Cluster.uniform(tuple(f"h{host}" for host in range(8)), slots=2)
    request = TuneRequest(
        num_ranks=16,
        cluster=hosts,
        network=NetworkRequest("probe:"),
        operations=tuple(options.operation),
        sizes=tuple(options.size),
        budget_s=options.budget,
    )
    tuning = tune(request, Narrator())
    with TuningProgram(detect(None), hosts, tuning.placement) as program:
        rows = [row(choice, tuning, program, options.rounds) for choice in tuning.choices]
    return {"tuning_s": tuning.seconds, "num_left_out": tuning.num_left_out, "rows": rows}


def row(choice: Choice, tuning: Tuning, program: TuningProgram, rounds: int) -> dict:
    """One call by the MPI's own algorithm and by what was decided."""
    kind = choice.kind
    facts = {"operation": kind.operation, "message_bytes": kind.message_bytes}
    if not choice.is_taken:
        return {**facts, "method": "native", "native_s": choice.native_s}
    call = TimedCall(kind.operation, kind.message_bytes, tuple(range(16)))
    schedules = schedule_candidates(call, tuning.network, tuning.placement)
    chosen = [schedule for schedule in schedules if schedule.method == choice.name]
    times = program.time(
        *(call, chosen),
        time_s=0.0,
        min_rounds=rounds,
        max_rounds=rounds,
        drops_slower=False,
        limit_s=LIMIT_S,
    )
    native_s, other_s = times.rounds_s.T
    both = np.isfinite(other_s)
    gain = paired_gain(other_s[both], native_s[both])
    return {
        **facts,
        "method": choice.name,
        "native_s": float(np.median(native_s)),
        "tuned_s": float(np.median(other_s[both])),
        "saves": [gain.ratio, gain.low_ratio, gain.high_ratio],
        "is_right": all(times.is_right),
        "rounds": int(both.sum()),
    }


def table(title: str, found: dict) -> Table:
    seconds, left_out = format_duration(found["tuning_s"]), found["num_left_out"]
    shown = Table(box=None, title=f"{title}: tuned in {seconds}, {left_out} calls left out")
    for heading in ("operation", "size", "native", "tuned", "method", "saves", "95 % interval"):
        shown.add_column(heading)
    for one in sorted(found["rows"], key=lambda one: one["operation"]):
        shown.add_row(*cells(one))
    return shown


def cells(one: dict) -> list[str]:
    size = format_size(one["message_bytes"])
    start = [one["operation"], size, format_duration(one["native_s"])]
    if "saves" not in one:
        return [*start, "", "native", "", ""]
    value, low, high = one["saves"]
    wrong = "" if one["is_right"] else " WRONG"
    interval = f"{low:.0%} to {high:.0%}" if np.isfinite(low) else "too few rounds"
    return [
        *start,
        format_duration(one["tuned_s"]),
        f"{one['method']}{wrong}",
        f"{value:.0%}",
        interval,
    ]


if __name__ == "__main__":
    main()
