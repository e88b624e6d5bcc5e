#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a later `fairlead run` spends on the network that an earlier one has measured.

In each cloud `fairlead run` decides once with an empty cache. Then it is called again and again:
the kept profile is checked by three hosts, measured again where it has drifted by more than 20 %,
and the kept decision is used. Nothing changes in the cloud, so measuring again is a false alarm.
`--dry-run` starts nothing after the decision. Printed is what each later call says that deciding
took, the start of the measuring processes included.

With --drift 0.3 one host after the other gets this part of its rates to and from all others, and
gets them back: printed is how many later runs pass until one notices, as each checks three hosts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
from programs import PROGRAMS

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab, Scenario

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

HOLDS = "the cached profile of these hosts is still valid"
MOST_RUNS = 100
DECISION_KEPT = "decision: reusing that of an earlier run"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="4 hosts, 1 later run")
    parser.add_argument("--scenario", default="two-racks")
    parser.add_argument("--hosts", action="append", type=int, help="default: 8 and 32; repeatable")
    parser.add_argument("--repeats", type=int, help="later runs in each cloud; default: 20")
    parser.add_argument("--drift", type=float, help="part of its rates that a host keeps")
    add_tables_option(parser)
    options = parser.parse_args()
    if options.drift:
        report_drift(options)
        return
    rows = Table(title=f"later runs on {options.scenario}, seconds of deciding [95 % interval]")
    for heading in ("hosts", "first run", "later, mean", "later, most", "profile held"):
        rows.add_column(heading, justify="right")
    rows.add_column("decision kept", justify="right")
    repeats = options.repeats or (1 if options.short else 20)
    for num_hosts in options.hosts or ([4] if options.short else [8, 32]):
        with Lab.up(Scenario.load(options.scenario, num_hosts)) as lab:
            rows.add_row(str(num_hosts), *measured(lab, 2 * num_hosts, repeats))
    Console(width=120).print(rows)
    write_tables(options.tables, rows)


def report_drift(options: argparse.Namespace) -> None:
    """How many later runs pass until one notices that a host has other rates."""
    changes = options.repeats or (2 if options.short else 20)
    for num_hosts in options.hosts or [8]:
        with (
            Lab.up(Scenario.load(options.scenario, num_hosts)) as lab,
            tempfile.TemporaryDirectory() as folder,
        ):
            decided(lab, 2 * num_hosts, Path(folder))
            runs = []
            for change in range(changes):
                host = lab.hosts[change // 2 % num_hosts]
                ratio = 1 / options.drift if change % 2 else options.drift
                runs.append(runs_until_noticed(lab, host, ratio, Path(folder)))
        mean = mean_interval(runs)
        print(
            f"{options.scenario}, {num_hosts} hosts, of which one falls to {options.drift:g} of its"
            f" rates, or gets them back, {changes} times: noticed by later run {mean.value:.1f} "
            f"[{mean.low:.1f}, {mean.high:.1f}], at most {max(runs)}"
        )


def runs_until_noticed(lab: Lab, host: str, ratio: float, folder: Path) -> int:
    """Number of the first later run that does not find the kept profile as it was."""
    for other in lab.hosts:
        if other != host:
            lab.degrade(host, other, ratio)
            lab.degrade(other, host, ratio)
    for number in range(1, MOST_RUNS + 1):
        if HOLDS not in decided(lab, 2 * len(lab.hosts), folder)[1]:
            return number
    raise SystemExit(f"{host} was not noticed by {MOST_RUNS} runs")


def measured(lab: Lab, num_ranks: int, repeats: int) -> list[str]:
    """The cells of a row."""
    with tempfile.TemporaryDirectory() as folder:
        first_s, _ = decided(lab, num_ranks, Path(folder))
        later = [decided(lab, num_ranks, Path(folder)) for _ in range(repeats)]
    times_s = [seconds for seconds, _ in later]
    mean = mean_interval(times_s)
    return [
        f"{first_s:.2f}",
        f"{mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}]",
        f"{max(times_s):.2f}",
        *(
            f"{sum(line in steps for _, steps in later)} of {repeats}"
            for line in (HOLDS, DECISION_KEPT)
        ),
    ]


def decided(lab: Lab, num_ranks: int, folder: Path) -> tuple[float, str]:
    """Seconds of deciding, and the steps of one call; profiles are cached in the folder."""
    home = {name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    record = Path(tempfile.mkdtemp(dir=folder))
    done = lab.run(
        [
            *(sys.executable, "-m", "fairlead", "run", "--dry-run", "--tune", "never"),
            *("-n", str(num_ranks), "--hostfile", str(lab.hostfile), "--run-dir", str(record)),
            *("--", *PROGRAMS["cg"].argv),
        ],
        cwd=folder,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        timeout=1200,
        check=True,
    )
    steps = json.loads((record / "run.json").read_text())["steps"]
    decision = next(step for step in steps if step["step"] == "decision")
    return float(decision["deciding_s"]), done.stderr


if __name__ == "__main__":
    main()
