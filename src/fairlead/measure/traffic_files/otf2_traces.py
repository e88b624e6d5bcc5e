# SPDX-License-Identifier: Apache-2.0
"""OTF2 traces, as Score-P writes them: messages between ranks and collective calls, added up.

otf2_events.py ──▶ sums of what the trace has ──▶ bytes of a call (otf2_sizes.py)
               ──▶ exchanges between pairs of ranks (otf2_exchanges.py, otf2_neighbours.py)
               ──▶ Traffic
Calls whose bytes a trace does not decide are left out, and named.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairlead.errors import InputError
from fairlead.files.package_folders import data_folder
from fairlead.measure.traffic_files.otf2_exchanges import Exchanged, add_up, find_fitting
from fairlead.measure.traffic_files.otf2_neighbours import Neighbourhood, add_neighbourhoods
from fairlead.measure.traffic_files.otf2_sizes import Row, Sized, find_sizes
from fairlead.measure.traffic_files.rank_matrix import MAX_RANKS, RankMatrix, traffic_of
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.traffic import Traffic, Untraced

__all__ = ["read_otf2"]

PYTHONS = (sys.executable, "/usr/bin/python3")
"""Tried in turn: distributions install the module for their own Python."""

NO_MODULE = 3
SCORE_P = "Score-P"
PARTNERS_UNKNOWN = "whose partners are unknown"
TOO_WIDE = "of too many pairs of ranks"

LeftOut = Counter[tuple[str, str]]
"""Number of calls by the reason and the operation."""

MOST_LETTERS = 300
"""Longest message of the module that is passed on."""


def read_otf2(path: Path) -> Traffic:
    """Read a trace by its anchor file, `traces.otf2`.

    Raises:
        InputError: No Python has the module otf2, it is no trace, or it has no ranks of MPI.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    found = _add_up(path)
    num_ranks = found["num_ranks"]
    if not 0 < num_ranks <= MAX_RANKS:
        raise InputError(f"{path}: has {num_ranks} ranks of MPI; expected 1 to {MAX_RANKS}")
    sent = RankMatrix()
    for row in found["sent"]:
        sent.add(*row)
    origin: dict[str, Any] = {"how": "given", "file": str(path), "counted_by": "OTF2"}
    if found["creator"]:
        origin["written_by"] = found["creator"]
    traffic = traffic_of(sent, RankMatrix(), num_ranks, origin)
    untraced = Untraced(
        messages=found["lost_messages"],
        bytes=found["lost_bytes"],
        collective_calls=found["calls_beyond_table"],
    )
    try:
        return _with_collectives(dataclasses.replace(traffic, untraced=untraced), found)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _with_collectives(traffic: Traffic, found: dict[str, Any]) -> Traffic:
    """The traffic with the trace's collective calls, and what of them is left out."""
    communicators: list[list[int]] = found["communicators"]
    left_out: LeftOut = Counter()
    for operation, reason, calls in found["unplaced"]:
        left_out[reason, operation] += calls
    is_score_p = found["creator"].startswith(SCORE_P)
    sized = _keep_known(
        find_sizes(
            (Row(*row) for row in found["collectives"]),
            [len(ranks) for ranks in communicators],
            is_score_p=is_score_p,
        ),
        left_out,
    )
    sized, uneven = _keep_fitting(sized, found["exchanges"], communicators, left_out)
    near = _keep_with_neighbours(map(Neighbourhood.from_row, found["neighbourhoods"]), left_out)
    exchanges = [*_of_alltoall(sized, communicators), *_of_uneven(uneven)]
    between = add_up(exchanges, communicators, traffic.num_ranks)
    between = add_neighbourhoods(between, near, communicators)
    origin = dict(traffic.origin)
    if left_out:
        origin["left_out"] = _text_of(left_out)
    shared = {row[0] for row in uneven} | {row.operation for row in near if row.is_uneven}
    assumed = [f"{name} in even shares" for name in sorted(shared)]
    if assumed:
        origin["assumed"] = ", ".join(assumed)
    return dataclasses.replace(
        traffic,
        exchange_bytes=between[0],
        exchange_messages=between[1],
        exchange_max_message_bytes=between[2],
        collectives=_calls(
            [*_rows_of(sized), *_mean_rows(uneven), *_rows_of_neighbours(near)], communicators
        ),
        communicators=[np.array(ranks, np.int64) for ranks in communicators],
        origin=origin,
    )


def _keep_known(sized: Iterable[Sized], left_out: LeftOut) -> list[Sized]:
    """Those with bytes; the others are counted."""
    known = []
    for each in sized:
        if each.bytes is None:
            left_out[each.reason, each.row.operation] += each.row.calls
        else:
            known.append(each)
    return known


def _keep_with_neighbours(rows: Iterable[Neighbourhood], left_out: LeftOut) -> list[Neighbourhood]:
    """Those whose bytes have a receiver; the others are counted."""
    known = []
    for row in rows:
        if row.sent and not row.neighbours:
            left_out[PARTNERS_UNKNOWN, row.operation] += row.calls
        else:
            known.append(row)
    return known


def _keep_fitting(
    sized: Iterable[Sized],
    uneven: Iterable[list[Any]],
    communicators: Sequence[list[int]],
    left_out: LeftOut,
) -> tuple[list[Sized], list[list[Any]]]:
    """All but exchanges with too many pairs of ranks, which are counted."""
    calls = [(each, each.row) for each in sized]
    rows = list(uneven)
    used = [row.communicator for _, row in calls if row.name == "alltoall"]
    used += [row[1] for row in rows]
    fitting = find_fitting(used, [len(ranks) for ranks in communicators])
    for _, call in calls:
        if call.name == "alltoall" and call.communicator not in fitting:
            left_out[TOO_WIDE, call.operation] += call.calls
    for operation, communicator, _, num_calls, *_ in rows:
        if communicator not in fitting:
            left_out[TOO_WIDE, operation] += num_calls
    return (
        [each for each, row in calls if row.name != "alltoall" or row.communicator in fitting],
        [row for row in rows if row[1] in fitting],
    )


def _of_alltoall(sized: Iterable[Sized], communicators: Sequence[list[int]]) -> list[Exchanged]:
    """What each rank sent: all ranks make the same calls."""
    exchanges = []
    for row, sent, _ in sized:
        if row.name == "alltoall" and sent:
            num_ranks = len(communicators[row.communicator])
            calls = np.full(num_ranks, row.calls / num_ranks)
            largest = np.full(num_ranks, float(sent))
            positions = np.arange(num_ranks, dtype=np.int64)
            exchanges.append(Exchanged(row.communicator, positions, calls * sent, calls, largest))
    return exchanges


def _of_uneven(rows: Iterable[list[Any]]) -> list[Exchanged]:
    """What each rank sent by alltoallv and alltoallw."""
    of_communicator = defaultdict(list)
    for operation, communicator, position, _, _, sent, _, num_sent, largest in rows:
        of_communicator[operation, communicator].append((position, sent, num_sent, largest))
    exchanges = []
    for (_, communicator), members in of_communicator.items():
        positions, *values = np.array(members, np.float64).T
        exchanges.append(Exchanged(communicator, positions.astype(np.int64), *values))
    return exchanges


Key = tuple[str, int, int | None, int]
"""Operation, communicator, root and bytes."""


def _rows_of(sized: Iterable[Sized]) -> list[tuple[Key, int, float]]:
    rows: list[tuple[Key, int, float]] = []
    for row, num_bytes, _ in sized:
        assert num_bytes is not None
        root = None if row.root < 0 else row.root
        rows.append(((row.operation, row.communicator, root, num_bytes), row.calls, row.seconds))
    return rows


def _mean_rows(uneven: Iterable[list[Any]]) -> list[tuple[Key, int, float]]:
    """Rows with the mean of each rank's calls, as their sizes are many."""
    return [
        ((operation, communicator, None, round(sent / calls)), calls, seconds)
        for operation, communicator, _, calls, seconds, sent, *_ in uneven
    ]


def _rows_of_neighbours(rows: Iterable[Neighbourhood]) -> list[tuple[Key, int, float]]:
    return [
        ((row.operation, row.communicator, None, row.mean_bytes), row.calls, row.seconds)
        for row in rows
    ]


def _calls(
    rows: Iterable[tuple[Key, int, float]], communicators: Sequence[list[int]]
) -> list[CollectiveCall]:
    """One call for all with the same key."""
    sums: dict[Key, tuple[int, float]] = {}
    for key, calls, seconds in rows:
        before = sums.get(key, (0, 0.0))
        sums[key] = (before[0] + calls, before[1] + seconds)
    return [
        CollectiveCall(
            operation,
            len(communicators[communicator]),
            num_bytes,
            calls,
            seconds,
            root=root,
            communicator=communicator,
        )
        for (operation, communicator, root, num_bytes), (calls, seconds) in sums.items()
    ]


def _text_of(left_out: LeftOut) -> str:
    """Numbers of calls by operation, those with one reason together."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for (reason, operation), calls in sorted(left_out.items(), key=lambda item: item[0][1]):
        noun = "call" if calls == 1 else "calls"
        by_reason[reason].append(f"{calls} {noun} of {operation}")
    return "; ".join(f"{' and '.join(names)}, {reason}" for reason, names in by_reason.items())


def _end_of(text: str) -> str:
    """The last lines of a message, whole ones."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    first = len(lines) - 1
    while first > 0 and sum(map(len, lines[first - 1 :])) <= MOST_LETTERS:
        first -= 1
    return " ".join(lines[max(first, 0) :])[:MOST_LETTERS]


def _add_up(path: Path) -> dict[str, Any]:
    """What a Python with the module adds up.

    Raises:
        InputError: None has it, or it is no trace.
    """
    program = data_folder("measure/traffic_files") / "otf2_events.py"
    for python in PYTHONS:
        try:
            done = subprocess.run(
                [python, str(program), str(path)], capture_output=True, text=True, check=False
            )
        except OSError:
            continue
        if done.returncode == NO_MODULE:
            continue
        if done.returncode != 0:
            reason = _end_of(done.stderr)
            raise InputError(f"{path}: cannot be read as OTF2: {reason}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result
    raise InputError(
        f"{path}: reading OTF2 needs its Python module (Debian, Ubuntu: python3-otf2), which none "
        f"of {', '.join(PYTHONS)} has"
    )
