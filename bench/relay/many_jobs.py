#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many jobs that use relays on one network, in SimGrid: does that make things worse for all?

256 hosts in racks behind shared uplinks, each pair of hosts with a rate of its own; two jobs on
each host. Each job has measured the pairs of its hosts while nothing else ran, and plans its relays
from that alone (decide/host_paths). All run at once: without relays; with relays by the rules of
the program, of which the messenger's compares what whole messages take, and takes one path where
others fill the network, and the routers' lets other jobs have an interface first; by all paths also
where others fill the network; by the messenger's rule alone; by the plan alone; and by the
messenger's rule with idle relays only. Network, jobs and messages are the same each time.

Printed is, for each job, the mean time of a round of messages as part of that without relays.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.decide.host_paths import HOP_S, MESSAGE_BYTES, path_table
from fairlead.flows.compare.statistics import mean_interval

ROOT = Path(__file__).resolve().parents[2]
MODES = {
    "learned": "relays",
    "striped": "relays by all paths also where others fill the network (an earlier rule)",
    "unlimited": "relays whose hosts do not give way to other jobs",
    "planned": "relays by the plan alone",
    "idle": "relays by idle hosts only (a rule that the program does not have)",
}
HOSTS_OF_RACK = 8
JOBS_OF_HOST = 2
NIC_BPS = 1.25e8
LATENCY_S = 1e-4
SEGMENTS = 4
"""Segments of a message. The router's are smaller; more take much longer to simulate."""
LOSS_RATIO = 0.05
"""A job loses if its rounds take longer by more than this."""


def main() -> None:
    options = parsed()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        for uplink_ratio in options.uplink:
            clouds = [describe(options, uplink_ratio, seed) for seed in range(options.seeds)]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                begun = {
                    mode: [pool.submit(simulated, program, mode, cloud) for cloud in clouds]
                    for mode in ("never", *options.mode)
                }
            times_s = {mode: [one.result() for one in ones] for mode, ones in begun.items()}
            report(options, uplink_ratio, times_s)


def compiled(folder: Path) -> Path:
    program, unit = folder / "many_jobs", folder / "unit.cpp"
    relay = ROOT / "relay"
    rules = [*sorted((relay / "routing").glob("*.cpp")), relay / "router/pacing/relay_limit.cpp"]
    # One unit: most of the time would go to reading the same headers in each.
    parts = (Path(__file__).resolve().with_suffix(".cpp"), *rules)
    unit.write_text("".join(f'#include "{part}"\n' for part in parts))
    subprocess.run(
        [
            *("g++", "-std=c++20", "-O2", "-o", program),
            *(f"-I{ROOT / folder}" for folder in ("core/include", "relay")),
            *(unit, "-lsimgrid"),
        ],
        check=True,
    )
    return program


def simulated(program: Path, mode: str, cloud: str) -> np.ndarray:
    """Mean time of a round of each job, shape (jobs,)."""
    done = subprocess.run(
        [program, "--log=root.thresh:error"],
        input=f"{mode}\n{cloud}", capture_output=True, text=True, check=True,
    )  # fmt: skip
    return np.array([float(line) for line in done.stdout.split()])


def describe(options: argparse.Namespace, uplink_ratio: float, seed: int) -> str:
    """Network and jobs as the program reads them."""
    random = np.random.default_rng(seed)
    num_hosts = options.hosts
    rack_of_host = np.arange(num_hosts) // HOSTS_OF_RACK
    uplink_Bps = uplink_ratio * HOSTS_OF_RACK * NIC_BPS
    # A lognormal rate of each pair, as in the lab's scenario pairwise, at most an interface's.
    pair_Bps = np.minimum(NIC_BPS, NIC_BPS * random.lognormal(-0.5, 0.7, (num_hosts, num_hosts)))
    lines = [
        f"{NIC_BPS} {uplink_Bps} {LATENCY_S} {HOP_S} {options.seconds} {options.bytes} "
        f"{options.bytes // SEGMENTS}",
        f"{num_hosts} {rack_of_host[-1] + 1} {words(rack_of_host)}",
    ]
    jobs = [
        hosts
        for _ in range(JOBS_OF_HOST)
        for hosts in np.split(random.permutation(num_hosts), num_hosts // options.job_hosts)
    ]
    lines.append(str(len(jobs)))
    for hosts in jobs:
        lines += job_lines(options, hosts, pair_Bps[np.ix_(hosts, hosts)], uplink_Bps, random)
    return "\n".join(lines) + "\n"


def job_lines(
    options: argparse.Namespace,
    hosts: np.ndarray,
    rate_Bps: np.ndarray,
    uplink_Bps: float,
    random: np.random.Generator,
) -> list[str]:
    count = len(hosts)
    start_s, compute_s = random.uniform(0, 1), random.uniform(0, options.compute)
    table = path_table(measured(np.minimum(rate_Bps, uplink_Bps), random))
    # Each host sends to the next one, and to one further away.
    far = int(random.integers(2, count))
    pairs = [(src, (src + step) % count) for step in (1, far) for src in range(count)]
    lines = [f"{start_s} {compute_s} {count} {words(hosts)}", words(rate_Bps.ravel())]
    lines.append(str(len(pairs)))
    for src, dst in pairs:
        # The simulation has paths by one relay.
        paths = [path for path in table.between(src, dst) if len(path.hops) <= 2]
        direct, *relayed = paths
        all_Bps = min(sum(one.bandwidth_Bps for one in paths), table.capacity_Bps[src][dst])
        all_s = max(one.latency_s for one in paths)
        plan = (direct.bandwidth_Bps, direct.latency_s, all_Bps, all_s, len(relayed))
        if relayed:
            plan += (relayed[0].bandwidth_Bps, relayed[0].latency_s)
        lines.append(words([src, dst, *plan, *(path.hops[0] for path in relayed)]))
    return lines


def measured(rate_Bps: np.ndarray, random: np.random.Generator) -> fl.Network:
    """What a job's own probe finds, with errors of 5 %."""
    count = len(rate_Bps)
    found_Bps = rate_Bps * random.lognormal(0, 0.05, rate_Bps.shape)
    np.fill_diagonal(found_Bps, np.inf)
    latency_s = np.where(np.eye(count, dtype=bool), 0.0, LATENCY_S)
    return fl.Network([f"h{host}" for host in range(count)], latency_s, found_Bps)


def words(values) -> str:
    return " ".join(str(value) for value in np.asarray(values, dtype=object))


def report(options: argparse.Namespace, uplink_ratio: float, times_s: dict) -> None:
    """Print the ratios of each mode.

    `times_s` holds, by mode and seed, the mean time of a round of each job.
    """
    never_s = times_s["never"]
    num_jobs = len(never_s[0])
    print(
        f"{options.hosts} hosts, {num_jobs} jobs of {options.job_hosts} hosts, messages of "
        f"{options.bytes >> 20} MiB, uplinks of {uplink_ratio:g} of what their hosts can send, "
        f"at most {options.compute:g} s between messages, {options.seconds:g} s, "
        f"{options.seeds} seeds:"
    )
    for mode in options.mode:
        ratios = [
            one_s / without_s for one_s, without_s in zip(times_s[mode], never_s, strict=True)
        ]
        of_jobs = np.concatenate(ratios)
        means = [float(one.mean()) for one in ratios]
        low, high = (means[0], means[0])
        if len(means) > 1:
            interval = mean_interval(means)
            low, high = interval.low, interval.high
        print(
            f"  {MODES[mode]}: {of_jobs.mean():.3f} [{low:.3f}, {high:.3f}] of the time without, "
            f"median {np.median(of_jobs):.3f}, best job {of_jobs.min():.3f}, worst "
            f"{of_jobs.max():.3f}, {np.mean(of_jobs > 1 + LOSS_RATIO):.1%} of the jobs lose more "
            f"than {LOSS_RATIO:.0%}",
            flush=True,
        )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="32 hosts, jobs that send for 2 s")
    parser.add_argument("--hosts", type=int, default=256)
    parser.add_argument("--job-hosts", type=int, default=16)
    parser.add_argument("--bytes", type=int, default=4 * int(MESSAGE_BYTES))
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated time")
    parser.add_argument(
        "--compute", type=float, default=2.0, help="most seconds that a job computes in each round"
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--mode", action="append", choices=MODES, help="instead of all; repeatable")
    parser.add_argument(
        "--uplink", type=float, action="append",
        help="rate of a rack's uplink, as part of what its hosts can send; repeatable",
    )  # fmt: skip
    options = parser.parse_args()
    if options.short:
        options.hosts, options.job_hosts, options.seconds, options.compute = 32, 8, 2.0, 0.05
    options.uplink = options.uplink or [0.5]
    options.mode = options.mode or [*MODES]
    return options


if __name__ == "__main__":
    main()
