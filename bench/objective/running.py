# SPDX-License-Identifier: Apache-2.0
"""Programs in an emulated cloud: their traffic, the network they see, and their times."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.act.launch import LaunchSpec, detect, read_hostfile
from fairlead.act.mpi_builds import find
from fairlead.lab import Lab, Scenario
from fairlead.lab.topology import Topology

PROGRAMS = {
    "cg": ("cg", "--size", "56000", "--systems", "1"),
    "stencil": ("stencil", "--size", "128", "--steps", "40"),
    "fft": ("fft", "--size", "64", "--systems", "4"),
}
SOLVE_S = re.compile(r"solve_s\s+([0-9.]+)")
NUM_RANKS = 32
LATENCY_S = 50e-6  # The lab's links, as `fairlead probe` measures them; all pairs alike.
MOST_S = 120  # A run that takes longer hangs.


def command_of(program: str) -> tuple[str, ...]:
    """Command line of an example program for the default launcher."""
    name, *arguments = PROGRAMS[program]
    return (str(find(detect()).example(name)), *arguments)


def traced(lab: Lab, program: str, folder: Path, num_ranks: int = NUM_RANKS) -> fl.Traffic:
    """The traffic of one traced run."""
    file = folder / f"{program}.traffic.npz"
    _fairlead(lab, "trace", "-n", str(num_ranks), "--hostfile", str(lab.hostfile), "-o", str(file),
              "--", *command_of(program))  # fmt: skip
    return fl.Traffic.load(file)


def of_its_own(folder: Path) -> tuple[str, ...]:
    """Arguments that keep apart what Open MPI 4 writes for jobs that start at the same moment.

    In the shared folder one may remove what the other has just made (open-mpi/ompi issue 8510).
    """
    return ("--mca", "orte_tmpdir_base", str(folder))


def drawn(name: str, draw: int) -> Scenario:
    """The scenario with all its random values drawn anew; 0: as it is."""
    fields = Scenario.load(name).model_dump() | {"name": f"{name}-{draw}"}
    if draw > 0:
        fields["order_seed"] = draw
        if fields["pairs"] is not None:
            fields["pairs"]["seed"] = draw
    return Scenario.model_validate(fields)


def probed(lab: Lab, folder: Path, options: Sequence[str]) -> fl.Network:
    """The network as `fairlead probe` with these options sees it."""
    file = folder / f"{lab.name}.net.npz"
    _fairlead(lab, "probe", "--hostfile", str(lab.hostfile), "-o", str(file), *options)
    return fl.Network.load(file)


def shaped(topology: Topology) -> fl.Network:
    """The network as the lab is to shape it: pairs, interfaces and uplinks."""
    rack = np.asarray(topology.rack_of_host)
    groups = []
    for index, uplink_Bps in enumerate(topology.uplink_Bps):
        leaving = (rack[:, None] == index) & (rack[None, :] != index)
        groups += [
            fl.BottleneckGroup(np.argwhere(crossing), uplink_Bps)
            for crossing in (leaving, leaving.T)
        ]
    latency_s = np.where(np.eye(topology.num_hosts, dtype=bool), 0.0, LATENCY_S)
    nic_Bps = np.asarray(topology.nic_Bps)
    return fl.Network(
        topology.hosts,
        latency_s,
        topology.shaped_Bps(),
        nic_out_Bps=nic_Bps,
        nic_in_Bps=nic_Bps,
        groups=groups,
        origin={"how": "given"},
    )


def measured(
    lab: Lab,
    program: str,
    placements: Sequence[fl.Placement],
    *,
    repeats: int,
    most_repeats: int,
    enough: Callable[[np.ndarray], bool],
    folder: Path,
    on_run: Callable[[float], None],
) -> np.ndarray:
    """Seconds that the program prints, shape (P, R); each repeat runs every placement once.

    After `repeats` they go on by two, so that both halves are as long, until they are enough.
    `on_run` gets the seconds of each run, including its start and end.
    """
    launcher, cluster = detect(), read_hostfile(lab.hostfile)
    commands = []
    for index, placement in enumerate(placements):
        place_folder = folder / f"{lab.name}-{program}-{index}"
        place_folder.mkdir()
        spec = LaunchSpec(command_of(program), placement.num_ranks, cluster, placement)
        commands.append(launcher.prepare_command(spec, place_folder))
    times_s = np.full((len(placements), most_repeats), np.nan)
    rng = np.random.default_rng(0)
    for repeat in range(most_repeats):
        done = times_s[:, :repeat]
        if repeat >= repeats and (repeat - repeats) % 2 == 0 and enough(done):
            return done
        # In another order each time, so that no placement always runs after the same other one.
        for index in rng.permutation(len(placements)):
            started_s = time.monotonic()
            times_s[index, repeat] = timed(lab, commands[index])
            on_run(time.monotonic() - started_s)
    return times_s


def timed(lab: Lab, command: Sequence[str]) -> float:
    """Seconds that the program of one run prints."""
    run = lab.run(command, check=False, capture_output=True, text=True, timeout=MOST_S)
    found = SOLVE_S.search(run.stdout)
    if run.returncode != 0 or found is None:
        raise RuntimeError(f"a run failed: {' '.join(command)}\n{run.stdout}{run.stderr}")
    return float(found.group(1))


def _fairlead(lab: Lab, *arguments: str) -> None:
    command = [sys.executable, "-m", "fairlead", *arguments]
    lab.run(command, check=True, stdout=subprocess.DEVNULL)


class Clock:
    """Prints the expected remaining time on stderr, from the runs so far."""

    def __init__(self, num_runs: int) -> None:
        self.num_runs = num_runs
        self.took_s: list[float] = []

    def tick(self, run_s: float) -> None:
        """Count a run that took so long."""
        self.took_s.append(run_s)
        num_done = len(self.took_s)
        if num_done in (1, 5, self.num_runs) or num_done % 40 == 0:
            mean_s = sum(self.took_s) / num_done
            print(
                f"{num_done} of {self.num_runs} runs, {mean_s:.1f} s each: about "
                f"{mean_s * max(0, self.num_runs - num_done) / 60:.1f} min left",
                file=sys.stderr,
            )

    def estimate(self, num_runs: int) -> str:
        """How long the full series takes at this speed."""
        minutes = num_runs * sum(self.took_s) / len(self.took_s) / 60
        return f"The full series of {num_runs} runs takes about {minutes:.0f} min at this speed."
