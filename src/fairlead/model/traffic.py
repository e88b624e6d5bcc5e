# SPDX-License-Identifier: Apache-2.0
"""What the ranks of an application sent one another, and the collectives they called."""

from __future__ import annotations

import dataclasses
import functools
import math
import reprlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.errors import InputError, ShapeError
from fairlead.files.archive import Archive, save_archive
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.collective_messages import (
    alltoall_by_size,
    bytes_by_size,
    expected_messages,
)
from fairlead.model.sparse_cells import cells
from fairlead.units import format_size

__all__ = ["Traffic", "Untraced", "sum_over_communicators"]

KIND = "traffic"
VERSION = 3
"""Version 2 has no computing times."""
OLDEST = 2

_POINT_TO_POINT = ("bytes", "messages", "max_message_bytes")
_EXCHANGE = ("exchange_bytes", "exchange_messages", "exchange_max_message_bytes")
_MOST_OF_CALLS = 2**64
_PARTS = ("data", "indices", "indptr")
_MATRICES = tuple(f"{name}.{part}" for name in (*_POINT_TO_POINT, *_EXCHANGE) for part in _PARTS)
_COMPUTE = "compute_s"
_MEMBERS = ("communicators.members", "communicators.indptr")


class Untraced(NamedTuple):
    """What a traced program did that has no place in its traffic.

    Attributes:
        messages: Messages to processes of another MPI_COMM_WORLD.
        bytes: Their bytes.
        collective_calls: Collective calls beyond the size of a rank's table.
        shared_windows: Windows of memory that ranks share, whose loads and stores no call shows.
        spawned_processes: Processes that the program started, whose own messages are not seen.
    """

    messages: int = 0
    bytes: int = 0
    collective_calls: int = 0
    shared_windows: int = 0
    spawned_processes: int = 0

    def line(self) -> str:
        """All of it in words; empty where there is nothing."""
        parts = [
            (self.messages, "{} ({}) to or from processes outside of MPI_COMM_WORLD", "message"),
            (self.spawned_processes, "what {} of MPI_Comm_spawn send each other", "process"),
            (self.shared_windows, "loads and stores in {} of shared memory", "window"),
            (self.collective_calls, "{} beyond the size of the table", "collective call"),
        ]
        size = format_size(self.bytes)
        return "; ".join(
            text.format(_count_text(number, noun), size) for number, text, noun in parts if number
        )


def _count_text(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{'' if number == 1 else plural}"


@dataclasses.dataclass(frozen=True, eq=False)
class Traffic:
    """Sparse traffic between T ranks, [src, dst], counted once at the sender, in world ranks.

    The matrices are copies of what is given, and cannot be written to.

    Attributes:
        bytes: Bytes sent point to point, shape (T, T).
        messages: Messages sent point to point, shape (T, T).
        max_message_bytes: Largest single message, shape (T, T).
        exchange_bytes, exchange_messages, exchange_max_message_bytes: The same for the data that
            alltoall(v, w) and neighbourhood collectives send from one rank to another.
        collectives: Table of collective calls, each kind once.
        communicators: World ranks of each communicator that the table names, in its own order.
            Duplicates of a communicator, whose ranks are the same, are one.
        run_time_s: From the end of MPI_Init to the start of MPI_Finalize, the longest of all
            ranks; `nan` when unknown.
        compute_s: Time of each rank outside of MPI calls, between MPI_Init and MPI_Finalize, shape
            (T,); `nan` where unknown, as of a rank whose threads call MPI. None: unknown.
        compute_hosts: Name of the host on which each rank took that time, length T; empty without.
        untraced: What the program did that is in none of these.
        origin: Program, arguments, MPI and time of the recording; JSON-serialisable. Of it
            only `mpi` decides: which messages collectives are expected to send; the rest is shown.
    """

    bytes: sp.csr_array
    messages: sp.csr_array
    max_message_bytes: sp.csr_array | None = None
    exchange_bytes: sp.csr_array | None = None
    exchange_messages: sp.csr_array | None = None
    exchange_max_message_bytes: sp.csr_array | None = None
    collectives: Sequence[CollectiveCall] = ()
    communicators: Sequence[npt.NDArray[np.int64]] = ()
    run_time_s: float = float("nan")
    compute_s: npt.NDArray[np.float64] | None = None
    compute_hosts: Sequence[str] = ()
    untraced: Untraced = dataclasses.field(default_factory=Untraced)
    origin: dict[str, Any] = dataclasses.field(default_factory=lambda: {"how": "given"})

    def __post_init__(self) -> None:
        shape = np.shape(self.bytes)
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
            raise ShapeError(f"traffic: bytes: expected shape (T, T), got {shape}")
        for name in (*_POINT_TO_POINT, *_EXCHANGE):
            given = getattr(self, name)
            matrix = sp.csr_array(shape) if given is None else sp.csr_array(given)
            matrix = matrix.astype(np.float64)
            if matrix.shape != shape:
                raise ShapeError(f"traffic: {name}: shape {matrix.shape}, but bytes has {shape}")
            matrix.sum_duplicates()
            if not np.all(np.isfinite(matrix.data)) or np.any(matrix.data < 0):
                raise InputError(f"traffic: {name}: every value must be finite and >= 0")
            # What is computed from them is kept, so they must not change.
            for part in _PARTS:
                getattr(matrix, part).setflags(write=False)
            object.__setattr__(self, name, matrix)
        communicators = tuple(_check_ranks(ranks, shape[0]) for ranks in self.communicators)
        object.__setattr__(self, "communicators", communicators)
        calls = tuple(CollectiveCall(*call) for call in self.collectives)
        for call in calls:
            _check_call(call, communicators)
        object.__setattr__(self, "collectives", calls)
        self._check_compute(shape[0])
        run_time_s = _as_float(self.run_time_s)
        if not (math.isnan(run_time_s) or 0 <= run_time_s < math.inf):
            raise InputError(
                f"traffic: run_time_s: must be finite and >= 0, or nan, got {run_time_s}"
            )
        object.__setattr__(self, "run_time_s", run_time_s)

    def _check_compute(self, num_ranks: int) -> None:
        object.__setattr__(self, "compute_hosts", tuple(self.compute_hosts))
        if self.compute_s is None:
            if self.compute_hosts:
                raise ShapeError("traffic: compute_hosts: there is no compute_s")
            return
        compute_s = np.array(self.compute_s, dtype=np.float64)
        if compute_s.shape != (num_ranks,) or len(self.compute_hosts) != num_ranks:
            raise ShapeError(
                f"traffic: compute_s: expected {num_ranks} ranks with their hosts, got shape "
                f"{compute_s.shape} and {len(self.compute_hosts)} hosts"
            )
        if np.any(compute_s < 0) or np.any(np.isinf(compute_s)):
            raise InputError("traffic: compute_s: every value must be finite and >= 0, or nan")
        compute_s.setflags(write=False)
        object.__setattr__(self, "compute_s", compute_s)

    @property
    def num_ranks(self) -> int:
        """Number of ranks T."""
        return int(self.bytes.shape[0])

    @functools.cached_property
    def total(self) -> Traffic:
        """Point-to-point traffic and exchange patterns added up: what was counted."""
        largest = _present(self.max_message_bytes)
        return Traffic(
            bytes=sp.csr_array(self.bytes + _present(self.exchange_bytes)),
            messages=sp.csr_array(self.messages + _present(self.exchange_messages)),
            max_message_bytes=largest.maximum(_present(self.exchange_max_message_bytes)),
            run_time_s=self.run_time_s,
            compute_s=self.compute_s,
            compute_hosts=self.compute_hosts,
            origin=self.origin,
        )

    @functools.cached_property
    def carried(self) -> Traffic:
        """`total` and what collectives are expected to send: what a placement has to carry."""
        inside_bytes, inside_messages = expected_messages(
            self.collectives, self.communicators, self.num_ranks, self.origin.get("mpi")
        )
        if not inside_messages.nnz:
            return self.total
        return dataclasses.replace(
            self.total,
            bytes=sp.csr_array(self.total.bytes + inside_bytes),
            messages=sp.csr_array(self.total.messages + inside_messages),
        )

    @functools.cached_property
    def usual_message_bytes(self) -> float:
        """Size of the message in which a byte goes on average; 0 where nothing was sent.

        Of a program with many short messages and a few long ones it is about that of the long ones.
        """
        inside = np.array([*bytes_by_size(self.collectives, self.origin.get("mpi"))]).reshape(-1, 2)
        outside = _bytes_by_mean_size(self.bytes, self.messages)
        weights, sizes = np.vstack([inside, outside, self._exchange_by_size()]).T
        total_bytes = float(weights.sum())
        return float(weights @ sizes) / total_bytes if total_bytes else 0.0

    def _exchange_by_size(self) -> npt.NDArray[np.float64]:
        """Bytes and sizes of exchanges: of alltoall by the table, of others the mean."""
        sent, messages = _present(self.exchange_bytes), _present(self.exchange_messages)
        table = np.array([*alltoall_by_size(self.collectives)]).reshape(-1, 2)
        if not len(table):
            return _bytes_by_mean_size(sent, messages)
        tabled_bytes = table[:, 0].sum()
        tabled_messages = (table[:, 0] / np.maximum(table[:, 1], 1)).sum()
        rest_bytes = max(0.0, float(sent.sum() - tabled_bytes))
        rest = [rest_bytes, rest_bytes / max(1.0, float(messages.sum() - tabled_messages))]
        return np.vstack([table, rest])

    @functools.cached_property
    def mean_message_bytes(self) -> float:
        """Bytes per message over all pairs of ranks; 0 where nothing was sent."""
        num_messages = float(self.total.messages.sum())
        return float(self.total.bytes.sum()) / num_messages if num_messages else 0.0

    def save(self, path: Path | str) -> None:
        """Write a `.traffic.npz` file; a reader never sees part of it."""
        sizes = [len(ranks) for ranks in self.communicators]
        arrays: dict[str, npt.NDArray[Any]] = {
            "communicators.members": np.concatenate([np.empty(0, np.int64), *self.communicators]),
            "communicators.indptr": np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        }
        for name in (*_POINT_TO_POINT, *_EXCHANGE):
            matrix = getattr(self, name)
            arrays |= {f"{name}.{part}": getattr(matrix, part) for part in _PARTS}
        if self.compute_s is not None:
            arrays[_COMPUTE] = self.compute_s
        meta = {
            "num_ranks": self.num_ranks,
            "orientation": "[src, dst], counted at the sender, world ranks",
            "units": {"bytes": "B", "messages": "1", "max_message_bytes": "B"},
            "run_time_s": None if np.isnan(self.run_time_s) else self.run_time_s,
            "collectives": [call._asdict() for call in self.collectives],
            "compute_hosts": list(self.compute_hosts),
            "uncounted": self.untraced._asdict(),
            "origin": self.origin,
        }
        save_archive(path, KIND, VERSION, meta, arrays)

    @classmethod
    def load(cls, path: Path | str) -> Traffic:
        """Read a `.traffic.npz` file.

        Raises:
            InputError: The file is missing, damaged, of another kind or version, or holds an
                impossible value; the message names file and field.
        """
        archive = Archive(path, KIND, VERSION, (*_MATRICES, *_MEMBERS, _COMPUTE), oldest=OLDEST)
        num_ranks = archive.meta_field("num_ranks", int)
        if num_ranks < 1:
            raise archive.error("meta.num_ranks", f"must be >= 1, got {num_ranks}")
        run_time_s = archive.meta_field("run_time_s", float, type(None))
        try:
            return cls(
                **{n: _sparse(archive, n, num_ranks) for n in (*_POINT_TO_POINT, *_EXCHANGE)},
                collectives=_calls(archive),
                communicators=_communicators(archive),
                run_time_s=math.nan if run_time_s is None else run_time_s,
                compute_s=archive.array(_COMPUTE, (num_ranks,)) if _COMPUTE in archive else None,
                compute_hosts=_check_compute_hosts(archive) if _COMPUTE in archive else (),
                untraced=_find_untraced(archive),
                origin=archive.meta_field("origin", dict),
            )
        except InputError as error:
            if str(error).startswith(str(archive.path)):
                raise
            raise InputError(f"{archive.path}: {error}") from error


def _check_compute_hosts(archive: Archive) -> list[str]:
    names: list[str] = archive.meta_field("compute_hosts", list)
    if not all(isinstance(name, str) for name in names):
        raise archive.error("meta.compute_hosts", "expected a list of host names")
    return names


def _bytes_by_mean_size(sent: sp.csr_array, messages: sp.csr_array) -> npt.NDArray[np.float64]:
    """Bytes of each pair, and the mean size of its messages, shape (pairs, 2)."""
    pairs = sent.tocoo()
    counts = cells(messages, pairs.row, pairs.col)
    return np.column_stack([pairs.data, pairs.data / np.maximum(counts, 1)])


def sum_over_communicators(calls: Sequence[CollectiveCall]) -> list[CollectiveCall]:
    """One call for all roots, and for all communicators of one size; in order of the first."""
    sums: dict[tuple[str, int, int], tuple[int, float]] = {}
    for call in calls:
        num_calls, seconds = sums.get(call[:3], (0, 0.0))
        sums[call[:3]] = (num_calls + call.calls, seconds + call.seconds)
    return [CollectiveCall(*kind, *total) for kind, total in sums.items()]


def _check_ranks(ranks: npt.NDArray[np.int64], num_ranks: int) -> npt.NDArray[np.int64]:
    """The ranks of a communicator; each is one of all ranks, and comes once."""
    found = np.asarray(ranks)
    if (
        found.ndim != 1
        or found.dtype.kind not in "iu"
        or not np.all((found >= 0) & (found < num_ranks))
        or len(np.unique(found)) < len(found)
    ):
        raise InputError(
            f"traffic: communicators: expected distinct ranks in 0..{num_ranks - 1}, got "
            f"{reprlib.repr(found.tolist())}"
        )
    return found.astype(np.int64)


def _check_call(call: CollectiveCall, communicators: Sequence[npt.NDArray[np.int64]]) -> None:
    if not all(0 <= number < _MOST_OF_CALLS for number in call[1:5]):
        raise InputError(
            "traffic: collectives: numbers must be finite, >= 0 and below 2**64, got "
            f"{reprlib.repr(call)}"
        )
    if call.root is not None and not 0 <= call.root < call.communicator_size:
        raise InputError(f"traffic: collectives: root: no rank of the communicator in {call}")
    if call.communicator is not None and not (
        0 <= call.communicator < len(communicators)
        and len(communicators[call.communicator]) == call.communicator_size
    ):
        raise InputError(f"traffic: collectives: communicator: none of this size in {call}")


def _as_float(number: float) -> float:
    """The number; infinite if it is a whole number beyond the range of floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _present(matrix: sp.csr_array | None) -> sp.csr_array:
    """A matrix of a built Traffic, in which a missing one has become an empty one."""
    assert matrix is not None
    return matrix


def _sparse(archive: Archive, name: str, num_ranks: int) -> sp.csr_array:
    indptr = archive.array(f"{name}.indptr", (num_ranks + 1,), is_whole=True).astype(np.int64)
    if indptr[0] != 0 or np.any(np.diff(indptr) < 0) or indptr[-1] > num_ranks**2:
        raise archive.error(f"{name}.indptr", "is not a row index of its data")
    shape = (int(indptr[-1]),)
    data = archive.array(f"{name}.data", shape, lambda values: np.isfinite(values) & (values >= 0))
    indices = archive.array(
        f"{name}.indices",
        shape,
        lambda ranks: (ranks >= 0) & (ranks < num_ranks),
        is_whole=True,
    )
    return sp.csr_array((data, indices, indptr), shape=(num_ranks, num_ranks))


def _calls(archive: Archive) -> list[CollectiveCall]:
    rows = archive.meta_field("collectives", list)
    try:
        return [
            CollectiveCall(
                str(row["operation"]),
                _whole(row["communicator_size"]),
                _whole(row["message_bytes"]),
                _whole(row["calls"]),
                float(row["seconds"]),
                *(_whole_or_none(row.get(name)) for name in ("root", "communicator")),
            )
            for row in rows
        ]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise archive.error("meta.collectives", f"is not a table of calls: {error}") from error


def _find_untraced(archive: Archive) -> Untraced:
    value = archive.meta_field("uncounted", dict)
    try:
        untraced = Untraced(**value)
        if all(_whole(number) >= 0 for number in untraced):
            return untraced
    except TypeError as error:
        raise archive.error("meta.uncounted", f"is not a table of counts: {value!r}") from error
    raise archive.error("meta.uncounted", f"expected counts >= 0, got {value!r}")


def _communicators(archive: Archive) -> list[npt.NDArray[np.int64]]:
    indptr = archive.array("communicators.indptr", (-1,), is_whole=True).astype(np.int64)
    if not indptr.size or indptr[0] != 0 or np.any(np.diff(indptr) < 0):
        raise archive.error("communicators.indptr", "is not an index of its members")
    members = archive.array("communicators.members", (int(indptr[-1]),), is_whole=True)
    return np.split(members, indptr[1:-1]) if len(indptr) > 1 else []


def _whole_or_none(value: object) -> int | None:
    return None if value is None else _whole(value)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected a whole number, got {value!r}")
    return value
