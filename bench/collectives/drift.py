#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What new schedules are worth when the emulated cloud changes under a running program.

Each round brings up a cloud, measures it as `fairlead probe` does, and starts a program whose steps
are a bcast, an allreduce and an allgather that follow schedules and are watched for drift
(docs/design/collective-drift.md). After a while all pairs are drawn anew, from the next seed; the
program gets no notice. Printed are the median time of a step before the change, after it by the
old schedules, and by the new ones, and what the library did; then the saving over all rounds with
its 95 % interval, and the longest time for which the program was held up. In as many rounds the
network stays as it is: what is done there is a false alarm.

All hosts share this machine's processors, so rates are a fraction of the scenario's, low enough for
the clouds of a few rounds to run side by side. What needs a processor, a plan for example, then
takes longer than it would on a host of its own.

python bench/collectives/drift.py     twelve minutes; --short for one round
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.launch.hostfile import read_hostfile
from fairlead.act.mpi_builds import find
from fairlead.act.plan.collectives import write_collectives_plan
from fairlead.act.preload import preload_variables
from fairlead.decide.paired_median import paired_gain
from fairlead.lab import Lab, Scenario
from fairlead.lab.topology import draw_topology
from fairlead.model.collective_rule import CollectiveRule, DriftRule, TunedCollectives
from fairlead.model.network import Network
from fairlead.units import format_duration
from fairlead.watch.collective_drift import DriftCounts, drift_counts

sys.path.append(str(Path(__file__).parents[1] / "probe"))
from probing import probed

PROGRAM = Path(__file__).with_suffix(".cpp")
METHODS = {"bcast": "forest", "allreduce": "forest", "allgather": "ring"}
"""Those that `fairlead tune` takes most often in this cloud."""
NEW_SCHEDULE = "follows a new schedule"
MPIRUN = {"FAIRLEAD_MPIRUN": "mpirun.openmpi"}
SETTLED_S = 1.0
"""Steps under way while rates change belong to neither network."""


@dataclasses.dataclass(frozen=True)
class Watched:
    """One run of the program.

    Attributes:
        ends_s, steps_s: When each step ended, and what it took.
        changed_s: When the network was changed; infinite: never.
        replaced_s: When each new schedule was taken.
        counts: What the library did.
    """

    ends_s: np.ndarray
    steps_s: np.ndarray
    changed_s: float
    replaced_s: list[float]
    counts: DriftCounts

    def median_s(self, begin_s: float, end_s: float) -> float:
        """Median of the steps that began and ended in that time; nan if there were none."""
        is_in = (self.ends_s - self.steps_s > begin_s) & (self.ends_s < end_s)
        return float(np.median(self.steps_s[is_in])) if is_in.any() else np.nan

    def phases_s(self) -> tuple[float, float, float]:
        """A step before the change, after it by the old schedules, and by the new ones."""
        taken = [at_s for at_s in self.replaced_s if at_s > self.changed_s]
        first_s, last_s = (min(taken), max(taken)) if taken else (np.inf, np.inf)
        return (
            self.median_s(-np.inf, self.changed_s),
            self.median_s(self.changed_s + SETTLED_S, first_s),
            self.median_s(last_s + SETTLED_S, np.inf),
        )


def main() -> None:
    options = parsed()
    if options.inside:
        run_inside(json.loads(options.inside))
        return
    seeds = range(options.seed, options.seed + options.rounds)
    if options.only != "unchanged":
        found = side_by_side(options, seeds, changes=True)
        for seed, one in zip(seeds, found, strict=True):
            print_round(seed, one)
        print_summary(found)
    if options.only != "changed":
        for seed, one in zip(seeds, side_by_side(options, seeds, changes=False), strict=True):
            print(f"seed {seed}, unchanged: {done(one)}", flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--short", action="store_true", help="one round, in which there is a change"
    )
    parser.add_argument("--only", choices=("changed", "unchanged"), help="one of the two networks")
    parser.add_argument("--rounds", type=int, default=6, help="of each")
    parser.add_argument("--together", type=int, default=3, help="so many rounds run side by side")
    parser.add_argument("--seed", type=int, default=42, help="of the first round's cloud")
    parser.add_argument("--slower", type=float, default=8.0, help="divides the scenario's rates")
    parser.add_argument("--bytes", type=int, default=128 * 1024, help="of each vector and block")
    parser.add_argument("--seconds", type=float, default=150.0, help="of each run")
    parser.add_argument("--change-after", type=float, default=30.0, help="seconds")
    parser.add_argument("--drift-from", choices=("measured", "predicted"), default="measured")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.short:
        options.rounds, options.only = 1, "changed"
    return options


def side_by_side(
    options: argparse.Namespace, seeds: Sequence[int], *, changes: bool
) -> list[Watched]:
    """A round for each seed, some of them at once."""
    with ThreadPoolExecutor(options.together) as pool:
        return [*pool.map(lambda seed: one_round(options, seed, changes=changes), seeds)]


def one_round(options: argparse.Namespace, seed: int, *, changes: bool) -> Watched:
    """A cloud, its measurement, and the program on it."""
    with (
        tempfile.TemporaryDirectory() as name,
        Lab.up(drawn(seed).slower(options.slower)) as lab,
    ):
        folder = Path(name)
        write_plan(folder, probed(lab, env=MPIRUN), options.drift_from)
        program = folder / "drift"
        subprocess.run(["mpicxx.openmpi", "-O2", "-o", program, PROGRAM], check=True)
        running = start(lab, folder, [str(program), str(options.seconds), str(options.bytes)])
        replaced_s: list[float] = []
        listener = threading.Thread(target=listen, args=(running.stderr, replaced_s))
        listener.start()
        changed_s = np.inf
        if changes:
            time.sleep(options.change_after)
            draw_anew(lab, drawn(seed + 1).slower(options.slower))
            changed_s = time.monotonic()
        output, _ = running.stdout.read(), running.wait()
        listener.join()
        steps = np.array([line.split()[1:] for line in output.splitlines() if "step" in line])
        if running.returncode != 0 or not output.endswith("right\n"):
            raise SystemExit(f"the program failed:\n{output[-2000:]}")
        ends_s, steps_s = steps.astype(float).T
        return Watched(ends_s, steps_s, changed_s, replaced_s, drift_counts(folder))


def drawn(seed: int) -> Scenario:
    """`pairwise` with rates from this seed."""
    scenario = Scenario.load("pairwise")
    pairs = scenario.pairs.model_copy(update={"seed": seed})
    return scenario.model_copy(update={"pairs": pairs})


def write_plan(folder: Path, network: Network, drift_from: str) -> None:
    rules = [CollectiveRule(operation, method, 1024, None) for operation, method in METHODS.items()]
    drift = DriftRule(drift_from=drift_from)
    write_collectives_plan(folder, network, TunedCollectives(network.num_hosts, rules, drift=drift))


def start(lab: Lab, folder: Path, words: list[str]) -> subprocess.Popen[str]:
    """The program on the head node, one rank on each host, by the plan in the folder."""
    request = {"words": words, "folder": str(folder), "hostfile": str(lab.hostfile)}
    return subprocess.Popen(
        lab.command([sys.executable, __file__, "--inside", json.dumps(request)]),
        env=os.environ | MPIRUN | lab.env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run_inside(request: dict[str, Any]) -> None:
    """On the head node; does not return."""
    launcher = detect()
    plan = request["folder"]
    hosts = read_hostfile(Path(request["hostfile"]))
    library = find(launcher).intercept
    env = preload_variables({}, library, FAIRLEAD_PLAN=plan, FAIRLEAD_RECORD=plan)
    spec = LaunchSpec(
        tuple(request["words"]), len(hosts.hosts), hosts, env=env,
        launcher_args=("--map-by", "node"),
    )  # fmt: skip
    command = launcher.prepare_command(spec, Path(plan))
    os.execvp(command[0], command)


def listen(lines: Iterable[str], replaced_s: list[float]) -> None:
    """Notes when the library says that it has taken a new schedule."""
    for line in lines:
        if NEW_SCHEDULE in line:
            replaced_s.append(time.monotonic())
        print(line, end="", file=sys.stderr)


def draw_anew(lab: Lab, scenario: Scenario) -> None:
    """Gives all pairs the rates of the scenario."""
    old_Bps, new_Bps = lab.topology().pair_Bps, draw_topology(scenario).pair_Bps
    for src, dst in zip(*np.nonzero(~np.eye(len(lab.hosts), dtype=bool)), strict=True):
        ratio = new_Bps[src, dst] / old_Bps[src, dst]
        lab.degrade(lab.hosts[src], lab.hosts[dst], float(ratio))


def print_round(seed: int, found: Watched) -> None:
    before_s, old_s, new_s = (format_duration(each_s) for each_s in found.phases_s())
    print(
        f"seed {seed}: a step takes {before_s}, after the change {old_s}, by new schedules {new_s}"
    )
    print(f"  {done(found)}", flush=True)


def done(found: Watched) -> str:
    counts = found.counts
    return (
        f"{len(found.steps_s)} steps; {counts.drifts} of {counts.windows} windows drifted, "
        f"{counts.probes} probes, {counts.comparisons} comparisons, {counts.replacements} new "
        f"schedules; longest stop {format_duration(counts.longest_stop_s)}, longest step "
        f"{format_duration(float(found.steps_s.max()))}"
    )


def print_summary(found: list[Watched]) -> None:
    """Medians over all rounds in which new schedules were used."""
    phases_s = np.array([one.phases_s() for one in found])
    old_s, new_s = phases_s[np.isfinite(phases_s).all(axis=1)][:, 1:].T
    print(f"new schedules in {len(new_s)} of {len(found)} rounds", end="")
    if len(new_s) == 0:
        print()
        return
    gain = paired_gain(new_s, old_s)
    longest_s = max(one.counts.longest_stop_s for one in found)
    print(
        f", where they save {gain.ratio:.0%} [{gain.low_ratio:.0%}, {gain.high_ratio:.0%}] of a "
        f"step; the longest stop is {format_duration(longest_s)}"
    )


if __name__ == "__main__":
    main()
