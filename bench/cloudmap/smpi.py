# SPDX-License-Identifier: Apache-2.0
"""Runs an example in SimGrid's SMPI: the same program, its messages on a simulated network.

Computing takes no time there, so that what is left is communication, the same on every machine and
however busy it is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.act.mpi_builds import list_builds
from fairlead.measure.trace_file import read_trace

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

INSIDE_Bps, INSIDE_LATENCY_S = 5e9, 1e-6
"""Between ranks on one host: memory, as common machines have it."""


def tracer() -> Path | None:
    """The object that traces the program it is linked with, if it has been built for SMPI."""
    roots = [build.root for build in list_builds() if build.family == "smpi"]
    return roots[0] / "lib" / "fairlead_intercept.o" if roots else None


def built(example: str, folder: Path, *objects: Path) -> Path:
    """The example for SMPI, linked with these objects; takes some seconds.

    Raises:
        SystemExit: SMPI is not installed.
    """
    if shutil.which("smpicxx") is None:
        raise SystemExit("SMPI is needed: apt install libsimgrid-dev")
    program = folder / f"{example}.smpi"
    if not program.exists():
        command = ["smpicxx", "-std=c++20", "-O2", str(EXAMPLES / example / "main.cpp")]
        subprocess.run([*command, *map(str, objects), "-o", str(program)], check=True)
    return program


def traced(
    program: Path, arguments: Sequence[str], network: fl.Network, num_ranks: int, folder: Path
) -> fl.Traffic:
    """The traffic of a run of a program that is linked with `tracer()`, ranks in turn on hosts."""
    host_of_rank = np.arange(num_ranks) % network.num_hosts
    file = folder / f"{program.stem}.{num_ranks}.trace"
    placement = fl.Placement(network.hosts, host_of_rank.tolist(), "cyclic")
    run(program, arguments, network, placement, folder, FAIRLEAD_TRACE=str(file))
    return read_trace(file)


def run(
    program: Path,
    arguments: Sequence[str],
    network: fl.Network,
    placement: fl.Placement,
    folder: Path,
    **env: str,
) -> float:
    """Simulated seconds that the program prints for its solve."""
    platform, hostfile = folder / "platform.xml", folder / "hosts.txt"
    write_platform(network, platform)
    hostfile.write_text("".join(f"{host}\n" for host in placement.host_names()))
    done = subprocess.run(
        [
            *("smpirun", "-np", str(placement.num_ranks), "-platform", str(platform)),
            *("-hostfile", str(hostfile), "--cfg=smpi/simulate-computation:no"),
            "--log=root.t:error",
            *(str(program), *arguments),
        ],
        check=True, capture_output=True, text=True, env={**os.environ, **env},
    )  # fmt: skip
    found = re.search(r"solve_s\s+([0-9.eE+-]+)", done.stdout)
    if found is None:
        raise RuntimeError(f"no solve_s in what the program prints: {done.stdout}{done.stderr}")
    return float(found.group(1))


def write_platform(network: fl.Network, path: Path) -> None:
    """SimGrid's description of a network: interfaces, pairs, and groups of pairs as links."""
    platform = ET.Element("platform", version="4.1")
    zone = ET.SubElement(platform, "zone", id="cloud", routing="Full")
    for host in network.hosts:
        ET.SubElement(zone, "host", id=host, speed="1Gf", core="1024")
    links, routes = links_of(network), list(routes_of(network))
    for name, (rate_Bps, latency_s) in links.items():
        ET.SubElement(
            zone, "link", id=name, bandwidth=f"{rate_Bps!r}Bps", latency=f"{latency_s!r}s"
        )
    for src, dst, names in routes:
        route = ET.SubElement(zone, "route", src=src, dst=dst, symmetrical="NO")
        for name in names:
            ET.SubElement(route, "link_ctn", id=name)
    head = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
    path.write_text(head + ET.tostring(platform, encoding="unicode"))


def links_of(network: fl.Network) -> dict[str, tuple[float, float]]:
    """Bandwidth and latency of each link by its name."""
    links = {}
    for index in range(network.num_hosts):
        links[f"in{index}"] = (INSIDE_Bps, INSIDE_LATENCY_S)
        for side, nic_Bps in (("out", network.nic_out_Bps), ("into", network.nic_in_Bps)):
            if nic_Bps is not None and np.isfinite(nic_Bps[index]):
                links[f"{side}{index}"] = (float(nic_Bps[index]), 0.0)
    for src, dst in pairs(network.num_hosts):
        rate_Bps = float(network.bandwidth_Bps[src, dst])
        links[f"pair{src}-{dst}"] = (rate_Bps, float(network.latency_s[src, dst]))
    for index, group in enumerate(network.groups):
        links[f"group{index}"] = (float(group.capacity_Bps), 0.0)
    return links


def routes_of(network: fl.Network) -> Iterator[tuple[str, str, list[str]]]:
    """Links that a message passes from each host to each."""
    links = links_of(network)
    groups_of_pair: dict[tuple[int, int], list[str]] = {}
    for index, group in enumerate(network.groups):
        for src, dst in group.pairs.tolist():
            groups_of_pair.setdefault((src, dst), []).append(f"group{index}")
    for index, host in enumerate(network.hosts):
        yield host, host, [f"in{index}"]
    for src, dst in pairs(network.num_hosts):
        passed = [
            f"out{src}",
            *groups_of_pair.get((src, dst), []),
            f"pair{src}-{dst}",
            f"into{dst}",
        ]
        yield network.hosts[src], network.hosts[dst], [name for name in passed if name in links]


def pairs(num_hosts: int) -> Iterator[tuple[int, int]]:
    """Ordered pairs of different hosts."""
    return ((src, dst) for src in range(num_hosts) for dst in range(num_hosts) if src != dst)
