# SPDX-License-Identifier: Apache-2.0
"""Reading the file that the preload library writes at the end of a traced run.

The format is described in docs/design/tracing.md: a header, the lines of each rank, and `end`.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from fairlead.errors import InputError
from fairlead.model.traffic import CollectiveCall, Traffic, Uncounted

_FIRST_LINE = "fairlead-trace 1"
_LARGEST_COUNT = 2**64 - 1


@dataclasses.dataclass
class _Matrix:
    """Rows of one traffic matrix, as they are read."""

    src: list[int] = dataclasses.field(default_factory=list)
    dst: list[int] = dataclasses.field(default_factory=list)
    messages: list[float] = dataclasses.field(default_factory=list)
    bytes: list[float] = dataclasses.field(default_factory=list)
    max_bytes: list[float] = dataclasses.field(default_factory=list)
    pairs: set[tuple[int, int]] = dataclasses.field(default_factory=set)

    def sparse(self, values: list[float], num_ranks: int) -> sp.csr_array:
        indices = (np.array(self.src, dtype=np.int64), np.array(self.dst, dtype=np.int64))
        return sp.csr_array((np.array(values), indices), shape=(num_ranks, num_ranks))


class _Reader:
    """One pass over the lines; each kind of line has a method that checks and stores it."""

    def __init__(self, num_ranks: int) -> None:
        self.num_ranks = num_ranks
        self.run_time_s: dict[int, float] = {}
        self.untranslated_messages = 0
        self.untranslated_bytes = 0
        self.dropped_collective_calls = 0
        self.sent = _Matrix()
        self.exchanged = _Matrix()
        self.collectives: dict[tuple[str, int, int], list[float]] = defaultdict(lambda: [0, 0.0])
        self.kinds: dict[str, tuple[int, Callable[[Sequence[str]], None]]] = {
            "rank": (5, self.read_rank),
            "sent": (5, lambda fields: self.read_pair(self.sent, fields)),
            "exchanged": (5, lambda fields: self.read_pair(self.exchanged, fields)),
            "collective": (5, self.read_collective),
        }

    def read(self, line: str) -> None:
        kind, *fields = line.split(" ")
        if kind not in self.kinds:
            raise ValueError(f"unknown kind of line {kind!r}")
        num_fields, method = self.kinds[kind]
        if len(fields) != num_fields:
            raise ValueError(f"{kind}: expected {num_fields} fields, got {len(fields)}")
        method(fields)

    def read_rank(self, fields: Sequence[str]) -> None:
        rank = _count(fields[0], self.num_ranks - 1)
        if rank in self.run_time_s:
            raise ValueError(f"rank {rank} comes twice")
        self.run_time_s[rank] = _seconds(fields[1])
        self.untranslated_messages += _count(fields[2])
        self.untranslated_bytes += _count(fields[3])
        self.dropped_collective_calls += _count(fields[4])

    def read_pair(self, matrix: _Matrix, fields: Sequence[str]) -> None:
        pair = (_count(fields[0], self.num_ranks - 1), _count(fields[1], self.num_ranks - 1))
        if pair in matrix.pairs:
            raise ValueError(f"ranks {pair[0]} and {pair[1]} come twice")
        if pair[0] not in self.run_time_s:
            raise ValueError(f"rank {pair[0]} sends before its line `rank`")
        messages, size_bytes, max_bytes = (_count(field) for field in fields[2:])
        if messages == 0 or max_bytes > size_bytes:
            raise ValueError(f"{messages} messages of {size_bytes} B, the largest {max_bytes} B")
        matrix.pairs.add(pair)
        matrix.src.append(pair[0])
        matrix.dst.append(pair[1])
        matrix.messages.append(messages)
        matrix.bytes.append(size_bytes)
        matrix.max_bytes.append(max_bytes)

    def read_collective(self, fields: Sequence[str]) -> None:
        operation, size, message_bytes, calls, seconds = fields
        if not operation.replace("_", "").isalnum():
            raise ValueError(f"operation {operation!r} is no name")
        total = self.collectives[operation, _count(size), _count(message_bytes)]
        total[0] += _count(calls)
        total[1] += _seconds(seconds)


def read_trace(path: Path | str) -> Traffic:
    """Read the file of a traced run.

    Returns:
        The traffic in world ranks; its `origin` names the MPI.

    Raises:
        InputError: The file is missing, not whole, or holds an impossible value; the message
            names file and line.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a trace file: not text") from error
    if lines[0] != _FIRST_LINE:
        raise InputError(f"{path}: not a trace file of this version: {lines[0][:40]!r}")
    if lines[-2:] != ["end", ""]:
        raise InputError(f"{path}: not whole: its last line is not `end`")
    return _parse(path, lines)


def _parse(path: Path, lines: list[str]) -> Traffic:
    number = 2
    try:
        num_ranks = _count(_header(lines, 1, "num_ranks"))
        if num_ranks == 0:
            raise ValueError("num_ranks: must be >= 1, got 0")
        number = 3
        mpi = _header(lines, 2, "mpi")
        reader = _Reader(num_ranks)
        for line in lines[3:-2]:
            number += 1
            reader.read(line)
    except ValueError as error:
        raise InputError(f"{path}: line {number}: {error}") from error
    missing = num_ranks - len(reader.run_time_s)
    if missing:
        raise InputError(f"{path}: not whole: {missing} of {num_ranks} ranks are missing")
    return _traffic(reader, mpi)


def _traffic(reader: _Reader, mpi: str) -> Traffic:
    sent, exchanged, n = reader.sent, reader.exchanged, reader.num_ranks
    return Traffic(
        bytes=sent.sparse(sent.bytes, n),
        messages=sent.sparse(sent.messages, n),
        max_message_bytes=sent.sparse(sent.max_bytes, n),
        exchange_bytes=exchanged.sparse(exchanged.bytes, n),
        exchange_messages=exchanged.sparse(exchanged.messages, n),
        exchange_max_message_bytes=exchanged.sparse(exchanged.max_bytes, n),
        collectives=[
            CollectiveCall(*kind, int(calls), seconds)
            for kind, (calls, seconds) in sorted(reader.collectives.items())
        ],
        run_time_s=max(reader.run_time_s.values()),
        uncounted=Uncounted(
            messages=reader.untranslated_messages,
            bytes=reader.untranslated_bytes,
            collective_calls=reader.dropped_collective_calls,
        ),
        origin={"how": "traced", "mpi": mpi},
    )


def _header(lines: list[str], index: int, name: str) -> str:
    found, _, value = lines[index].partition(" ") if index < len(lines) else ("", "", "")
    if found != name:
        raise ValueError(f"expected {name!r}, got {found!r}")
    return value


def _count(text: str, largest: int = _LARGEST_COUNT) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 20 or int(text) > largest:
        raise ValueError(f"expected a whole number from 0 to {largest}, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"expected seconds >= 0, got {text!r}")
    return value
