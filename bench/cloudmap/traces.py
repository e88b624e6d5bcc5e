# SPDX-License-Identifier: Apache-2.0
"""Recorded traces of the NAS Parallel Benchmarks: their traffic, and files for SimGrid to replay.

A line of a trace is a call: rank, name, and for a message peer, tag, count and type. Computing is
spread evenly over a rank's blocking calls, as recorded times would be this machine's own.
"""

from __future__ import annotations

import dataclasses
import functools
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from npb_programs import FACTS, Facts

import fairlead as fl

RECORDED = Path(__file__).parent / "recorded"
BYTES_OF_TYPE = {"0": 8, "1": 4, "2": 1, "6": 1}
"""SimGrid's numbers of MPI_DOUBLE, MPI_INT, MPI_CHAR and MPI_BYTE."""

BLOCKING = {"recv", "wait", "waitall", "allreduce", "reduce", "alltoall", "alltoallv"}
HOST_FLOPS = 1e9  # Speed of a simulated core, so that 1e9 operations take a second.
SENDS = {"send", "isend"}


@dataclasses.dataclass(frozen=True)
class Recording:
    """The timed iteration of one benchmark.

    Attributes:
        name: Such as "cg.C.64".
        calls: Calls of each rank, in words.
    """

    name: str
    calls: tuple[tuple[tuple[str, ...], ...], ...]

    @property
    def num_ranks(self) -> int:
        return len(self.calls)

    @property
    def facts(self) -> Facts:
        return FACTS[self.name.split(".")[0]]

    @property
    def compute_s(self) -> float:
        """Seconds of computing of each rank in this iteration."""
        return self.facts.compute_s(self.name.split(".")[1], self.num_ranks)


@functools.cache
def load(name: str) -> Recording:
    """One recording; "cg.C.64" is CG, class C, on 64 ranks."""
    path = RECORDED / f"{name}.ti.tar.xz"
    if not path.exists():
        known = ", ".join(sorted(file.name.removesuffix(".ti.tar.xz") for file in files()))
        raise SystemExit(f"no recording {name!r}; there are {known}")
    calls = []
    with tarfile.open(path) as archive:
        for member in archive:
            data = archive.extractfile(member)
            assert data is not None, "each member is a file"
            calls.append(tuple(tuple(line.split()) for line in data.read().decode().splitlines()))
    return Recording(name, tuple(calls))


def files() -> list[Path]:
    return list(RECORDED.glob("*.ti.tar.xz"))


@functools.cache
def traffic(name: str) -> fl.Traffic:
    """What a whole run sends: messages point to point, and collectives on their own."""
    recording = load(name)
    repeats = recording.facts.repeats
    size = (recording.num_ranks, recording.num_ranks)
    sent: Counter[tuple[int, int]] = Counter()
    messages: Counter[tuple[int, int]] = Counter()
    exchanged, exchanges = np.zeros(size), np.zeros(size)
    table: Counter[tuple[str, int]] = Counter()
    for rank, calls in enumerate(recording.calls):
        for _, call, *words in calls:
            if call in SENDS:
                pair = (rank, int(words[0]))
                sent[pair] += int(words[2]) * BYTES_OF_TYPE[words[3]]
                messages[pair] += 1
            elif call == "alltoall":
                exchanged[rank] += int(words[0]) * bytes_of(words[2])
                exchanges[rank] += 1
            elif call == "alltoallv":
                counts = np.array(words[1 : 1 + size[0]], dtype=float)
                exchanged[rank] += counts * bytes_of(words[-2])
                exchanges[rank] += 1
            elif call in {"allreduce", "reduce", "bcast"}:
                operation_type = words[2] if call == "allreduce" else words[-1]
                table[call, int(words[0]) * bytes_of(operation_type)] += 1
    for matrix in (exchanged, exchanges):
        np.fill_diagonal(matrix, 0)
    return fl.Traffic(
        bytes=repeats * matrix_of(sent, size),
        messages=repeats * matrix_of(messages, size),
        exchange_bytes=repeats * sp.csr_array(exchanged),
        exchange_messages=repeats * sp.csr_array(exchanges),
        collectives=[
            fl.CollectiveCall(operation, size[0], num_bytes, round(calls * repeats), 0.0, root, 0)
            for (operation, num_bytes), calls in table.items()
            for root in [None if operation == "allreduce" else 0]
        ],
        communicators=[np.arange(size[0])],
    )


def bytes_of(type_number: str) -> int:
    return BYTES_OF_TYPE.get(type_number, 16)  # MPI_DOUBLE_COMPLEX is what else is used.


def matrix_of(number_of_pair: Counter[tuple[int, int]], shape: tuple[int, int]) -> sp.csr_array:
    if not number_of_pair:
        return sp.csr_array(shape)
    pairs = np.array(list(number_of_pair))
    numbers = np.array(list(number_of_pair.values()), dtype=float)
    return sp.csr_array((numbers, (pairs[:, 0], pairs[:, 1])), shape=shape)


def write_replay(name: str, folder: Path) -> Path:
    """The list of trace files for `smpirun -replay`, with computing."""
    recording = load(name)
    where = folder / name
    where.mkdir(exist_ok=True)
    paths = []
    for rank, calls in enumerate(recording.calls):
        num_blocking = sum(call[1] in BLOCKING for call in calls)
        flops = HOST_FLOPS * recording.compute_s / max(1, num_blocking)
        lines = []
        for call in largest_first([evened(call, recording.num_ranks) for call in calls]):
            if call[1] in BLOCKING:
                lines.append(f"{rank} compute {flops:.9g}")
            lines.append(" ".join(call))
        path = where / f"{rank}.txt"
        path.write_text("\n".join(lines) + "\n")
        paths.append(str(path))
    listed = where / "files.txt"
    listed.write_text("\n".join(paths) + "\n")
    return listed


def evened(call: tuple[str, ...], num_ranks: int) -> tuple[str, ...]:
    """An alltoallv as the alltoall of its mean: SimGrid 3.32 crashes when it replays the former.

    IS alone has it, and its counts are within some 20 % of one another.
    """
    if call[1] != "alltoallv":
        return call
    mean = round(sum(map(int, call[3 : 3 + num_ranks])) / num_ranks)
    return (call[0], "alltoall", str(mean), str(mean), *call[-2:])


def largest_first(calls: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The largest alltoall right after init: SimGrid's buffer may not grow while it is used."""
    found = [index for index, call in enumerate(calls) if call[1] == "alltoall"]
    if not found:
        return calls
    largest = max(found, key=lambda index: int(calls[index][2]))
    return [calls[0], calls[largest], *calls[1:largest], *calls[largest + 1 :]]
