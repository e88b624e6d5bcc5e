# SPDX-License-Identifier: Apache-2.0
"""What was measured of one program in one cloud, in memory and as files."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import running

import fairlead as fl

TRAFFIC, NETWORK, TIMES = "run.traffic.npz", "run.net.npz", "times.npz"
NAME = re.compile(rf"(?P<cloud>.+)-(?P<program>{'|'.join(running.PROGRAMS)})")


class Series(NamedTuple):
    """Placements of one program in one cloud.

    Attributes:
        cloud: Scenario, and the number of its draw.
        times_s: Shape (P, R).
    """

    cloud: str
    program: str
    traffic: fl.Traffic
    network: fl.Network
    placements: list[fl.Placement]
    times_s: np.ndarray

    @property
    def draw(self) -> int:
        """Number of the cloud's draw."""
        return int(self.cloud.rpartition("-")[2])


def keep(folder: Path, series: Series) -> None:
    """Write a series into a folder of its own."""
    its_folder = folder / f"{series.cloud}-{series.program}"
    its_folder.mkdir(parents=True, exist_ok=True)
    # Without the program's folder on this machine.
    traffic = dataclasses.replace(series.traffic, origin={"how": "traced"})
    traffic.save(its_folder / TRAFFIC)
    series.network.save(its_folder / NETWORK)
    names = [placement.method for placement in series.placements]
    hosts = [placement.host_of_rank for placement in series.placements]
    np.savez(its_folder / TIMES, names=names, host_of_rank=hosts, times_s=series.times_s)


def kept(folder: Path) -> Iterator[Series]:
    """All series of a folder, by their names."""
    for file in sorted(folder.glob(f"*/{TIMES}")):
        name = NAME.fullmatch(file.parent.name)
        if name is None:
            raise SystemExit(f"{file.parent}: expected CLOUD-PROGRAM")
        network = fl.Network.load(file.parent / NETWORK)
        with np.load(file) as arrays:
            found = [
                fl.Placement(network.hosts, hosts, str(method))
                for hosts, method in zip(arrays["host_of_rank"], arrays["names"], strict=True)
            ]
            times_s = arrays["times_s"]
        traffic = fl.Traffic.load(file.parent / TRAFFIC)
        yield Series(name["cloud"], name["program"], traffic, network, found, times_s)
