# SPDX-License-Identifier: Apache-2.0
"""Runs flows.cpp: products of the program on ORACLE's machine while pairs of nodes stream."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from paper_machine import FACE_BYTES, PAIRS, name_of

from fairlead.files.archive import write_text
from fairlead.model.topology import Topology

MESSAGE_BYTES = 2.0**20
"""The streams' message: 1 MiB (section IV-B)."""


class Streams(NamedTuple):
    """What the pairs do: each node of a pair sends to the other.

    Attributes:
        share: What a stream counts for where it meets messages of the program on a link: as much
            as this number of them.
        gap_s: Mean pause of a stream between two messages.
    """

    share: float
    gap_s: float


class Run(NamedTuple):
    """Seconds that were simulated, bytes that each link carried, and seconds that it was full."""

    seconds: float
    carried_bytes: npt.NDArray[np.float64]
    full_s: npt.NDArray[np.float64]


class Flows:
    """The machine with an interface of each node, each way, as further resources."""

    def __init__(self, topology: Topology, program: Path):
        self.topology = topology
        self._program = program
        assert topology.nic_Bps is not None
        capacity_Bps = [*topology.links.capacity_Bps, *topology.nic_Bps, *topology.nic_Bps]
        self._machine = f"{len(capacity_Bps)} {' '.join(map(repr, map(float, capacity_Bps)))}"

    def products(
        self,
        messages: Mapping[tuple[str, str], int],
        streams: Streams | None,
        number: int,
        compute_s: float,
        seed: int,
    ) -> Run:
        """A number of products of a program that computes for a time before each exchange."""
        job = [f"{count} {FACE_BYTES} {self._route(*pair)}" for pair, count in messages.items()]
        return self._run(job, streams, f"{number} {compute_s} 0 {seed}")

    def streams_alone(self, streams: Streams, seconds: float, seed: int) -> Run:
        """The streams without the program."""
        return self._run([], streams, f"0 0 {seconds} {seed}")

    def _run(self, job: list[str], streams: Streams | None, end: str) -> Run:
        others: list[str] = []
        if streams is not None:
            each = f"{streams.share} {MESSAGE_BYTES / streams.share} {streams.gap_s}"
            for a, b in PAIRS:
                for src, dst in ((a, b), (b, a)):
                    route = self._route(name_of(src), name_of(dst))
                    others.append(f"{each} {route}")
        parts = [self._machine, len(job), *job, len(others), *others, end]
        seconds, *rows = self._output("\n".join(map(str, parts))).splitlines()
        found = np.array([row.split() for row in rows], dtype=np.float64)
        links = found[: self.topology.links.num_links]
        return Run(float(seconds), links[:, 0], links[:, 1])

    def _output(self, problem: str) -> str:
        """What the program prints; kept, as the same problem has the same result, and the items of
        figures 5 and 6 and of table II have the same runs."""
        digest = hashlib.sha256(self._program.read_bytes() + problem.encode()).hexdigest()
        kept = self._program.with_name("oracle-runs") / digest
        if not kept.exists():
            done = subprocess.run(
                [self._program], input=problem, capture_output=True, text=True, check=True
            )
            kept.parent.mkdir(exist_ok=True)
            write_text(kept, done.stdout)
        return kept.read_text()

    def _route(self, src: str, dst: str) -> str:
        """Number and indices of the resources between two nodes."""
        a, b = self.topology.indices([src, dst]).tolist()
        num_links, num_hosts = self.topology.links.num_links, self.topology.num_hosts
        way = [*self.topology.route(src, dst).tolist(), num_links + a, num_links + num_hosts + b]
        return f"{len(way)} {' '.join(map(str, way))}"


@contextmanager
def compiled_flows(topology: Topology) -> Iterator[Flows]:
    """Compiles flows.cpp where it has changed."""
    source = Path(__file__).with_name("flows.cpp")
    kept = source.parents[2] / "build" / "bench" / "oracle-flows"
    if not kept.exists() or kept.stat().st_mtime < source.stat().st_mtime:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            program = Path(folder) / "flows"
            subprocess.run(["g++", "-std=c++20", "-O2", "-o", program, source], check=True)
            program.replace(kept)
    yield Flows(topology, kept)
