# SPDX-License-Identifier: Apache-2.0
"""MCM's experiment (section 4): CG and a ping-pong of all pairs at the same time, and relayed.

In the paper both programs have 16 processes, and nothing is relayed: by our reading the legs of the
ping-pong are added up. Here both also run by the paper's rule and by ours, in turns with the MPI
alone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from clouds import measured, repeat_meanwhile, run_in
from pydantic import BaseModel

from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario
from fairlead.model.network import Network

HERE = Path(__file__).parent
CG = HERE.parents[1] / "examples" / "cg" / "main.cpp"

BYTES = 1 << 20
METHODS = ("direct", "mcm", "trials")

CLASS_B = ["--size", "75000", "--nonzeros", "13", "--iterations", "25", "--systems", "1"]
"""One of the 75 iterations of NPB's CG class B, each of which is 25 steps of conjugate gradients.
Messages are those of NPB: a quarter of the vector on a grid of 4 x 4 ranks, 150,000 bytes."""

SHORT_CG = ["--size", "25000", *CLASS_B[2:]]
"""As long as a round of the ping-pong."""


class Message(NamedTuple):
    """One of CG's own.

    Attributes:
        src, dst: Hosts.
        seconds: From the call that sends it to its arrival.
    """

    src: int
    dst: int
    seconds: float


class Programs(NamedTuple):
    """What runs at the same time, and how often the second one repeats."""

    cg: list[str]
    pingpong: Path
    rounds: int


class Run(BaseModel):
    """What one run of both programs found.

    Attributes:
        method: One of METHODS.
        pingpong_s: Median of the rounds, [src][dst]; 0 on the diagonal.
        messages: CG's own, those that were sent while the ping-pong ran.
        relayed_ratio: Part of the bytes by routers that went by third hosts.
    """

    method: str
    pingpong_s: list[list[float]]
    messages: list[Message]
    relayed_ratio: float


class Experiment(BaseModel):
    """Runs of all methods in turns.

    Attributes:
        calibration_s: The ping-pong from which the rule `mcm` has its table, as in the paper.
        rounds: Rounds of each ping-pong.
        repeats: A run of each method in each.
    """

    num_hosts: int
    rounds: int
    calibration_s: list[list[float]]
    repeats: list[list[Run]]


PAIRS = {
    "even": {"median": "20Mbit/s", "sigma": 0.6},
    "uneven": {"median": "10Mbit/s", "sigma": 0.8},
}
"""Rates of pairs. While a host sends to all 15 others, each gets 5 Mbit/s of its interface: one
pair in a hundred of "even" is slower by itself, and one in five of "uneven"."""


def scenario(num_hosts: int, pairs: str) -> Scenario:
    """Every directed pair has a rate of its own, below what a host's interface carries.

    15 MiB leave each host in a round, which takes 1.6 s at this rate; the paper's three pairs take
    0.2 to 1.0 s. Faster interfaces would make the cores that all hosts share the limit.
    """
    return Scenario.model_validate(
        {
            "name": "mcm", "hosts": num_hosts, "slots": 1, "nic": "80Mbit/s",
            "pairs": {**PAIRS[pairs], "seed": 42, "asymmetry": 0.5},
        }
    )  # fmt: skip


def experiment(
    cloud: Scenario, repeats: int, rounds: int, folder: Path, cg: list[str]
) -> Experiment:
    """All of it, in an emulated cloud; `cg` are the arguments of CG."""
    cg_program, pingpong = _compiled(folder)
    programs = Programs([str(cg_program), *cg], pingpong, rounds)
    with Lab.up(cloud) as lab:
        probed = measured(lab)
        first = _run(lab, "direct", probed, programs, folder / "calibration")
        calibration_s = np.array(first.pingpong_s)
        network_of = {"mcm": _discovered(lab, calibration_s)}
        found = []
        for repeat in range(repeats):
            order = METHODS[:: 1 if repeat % 2 else -1]
            runs = [
                _run(lab, method, network_of.get(method, probed), programs,
                     folder / f"{repeat}-{method}")
                for method in order
            ]  # fmt: skip
            found.append(sorted(runs, key=lambda run: METHODS.index(run.method)))
    return Experiment(
        num_hosts=cloud.hosts, rounds=rounds, calibration_s=first.pingpong_s, repeats=found
    )


def best_legs_s(pingpong_s: np.ndarray) -> np.ndarray:
    """For each pair the least sum of two legs; the paper names one third host as an example."""
    return _legs_s(pingpong_s).min(axis=1)


def best_relays(pingpong_s: np.ndarray) -> np.ndarray:
    """The host of that sum, [src, dst]."""
    return _legs_s(pingpong_s).argmin(axis=1)


def legs_by(relays: np.ndarray, repeats_s: np.ndarray) -> np.ndarray:
    """The sums by given relays in several repeats, [repeat, src, dst]."""
    return np.array(
        [np.take_along_axis(_legs_s(one), relays[:, None, :], 1)[:, 0] for one in repeats_s]
    )


def _legs_s(pingpong_s: np.ndarray) -> np.ndarray:
    """The sum of both legs, [src, relay, dst]; `inf` where the relay is an end."""
    legs_s = pingpong_s[:, :, None] + pingpong_s[None, :, :]
    hosts = np.arange(len(pingpong_s))
    legs_s[hosts, hosts, :] = np.inf
    legs_s[:, hosts, hosts] = np.inf
    return legs_s


def _discovered(lab: Lab, pingpong_s: np.ndarray) -> Network:
    """The paper's topology discovery: the ping-pong of all pairs at once is the table."""
    is_same = np.eye(len(pingpong_s), dtype=bool)
    bandwidth_Bps = np.where(is_same, np.inf, BYTES / np.where(is_same, 1.0, pingpong_s))
    return Network(lab.hosts, np.where(is_same, 0.0, 1e-6), bandwidth_Bps)


def _run(lab: Lab, method: str, network: Network, programs: Programs, work: Path) -> Run:
    num_hosts = len(lab.hosts)
    options: dict[str, Any] = {"with_relays": method != "direct"}
    if method != "direct":
        options["rule"] = method
    with repeat_meanwhile(lab, network, programs.cg, num_hosts, work / "cg", **options) as of_cg:
        argv = [str(programs.pingpong), str(BYTES), str(programs.rounds)]
        result = run_in(lab, network, argv, num_hosts, work / "pingpong", **options)
    pingpong_s, window_s = _pingpong(result["output"], num_hosts, programs.rounds)
    messages = [each for one in of_cg for each in _messages(one["output"], window_s)]
    print(
        f"{work.name}: {method}, {pingpong_s.sum() / (num_hosts * (num_hosts - 1)):.2f} s a pair, "
        f"{len(messages)} messages of CG",
        flush=True,
    )
    return Run(
        method=method,
        pingpong_s=pingpong_s.tolist(),
        messages=messages,
        relayed_ratio=_relayed_ratio([result, *of_cg]),
    )


def _compiled(folder: Path) -> tuple[Path, Path]:
    cg, pingpong = folder / "cg", folder / "pingpong_at_once"
    timed = ["-include", str(HERE / "timed_messages.hpp")]
    commands = [
        ["mpicxx.openmpi", "-std=c++20", "-O2", *timed, str(CG), "-o", str(cg)],
        ["mpicc.openmpi", "-O2", str(HERE / "pingpong_at_once.c"), "-o", str(pingpong)],
    ]
    for command in commands:
        subprocess.run(command, check=True)
    return cg, pingpong


def _pingpong(output: str, num_hosts: int, rounds: int) -> tuple[np.ndarray, tuple[float, float]]:
    """Median of the rounds, [src, dst], and when they were."""
    seconds = np.zeros((rounds, num_hosts, num_hosts))
    window_s = (0.0, 0.0)
    for line in output.splitlines():
        words = line.split()
        if words[0] == "window":
            window_s = (float(words[1]), float(words[2]))
        else:
            src, dst, number = map(int, words[:3])
            seconds[number, src, dst] = float(words[3])
    return np.median(seconds, axis=0), window_s


def _messages(output: str, window_s: tuple[float, float]) -> Iterator[Message]:
    for line in output.splitlines():
        if not line.startswith("message "):
            continue
        _, src, dst, _, sent_s, seconds = line.split()
        if window_s[0] <= float(sent_s) <= window_s[1]:
            yield Message(int(src), int(dst), float(seconds))


def _relayed_ratio(results: list[dict[str, Any]]) -> float:
    counters = [each for result in results for each in result["counters"] if each]
    delivered_bytes = sum(each["delivered_bytes_total"] for each in counters)
    # What goes by a third host is forwarded twice.
    forwarded_bytes = sum(each["forwarded_bytes_total"] for each in counters)
    return (forwarded_bytes - delivered_bytes) / delivered_bytes if delivered_bytes else 0.0
