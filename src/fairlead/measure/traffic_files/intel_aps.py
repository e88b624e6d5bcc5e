# SPDX-License-Identifier: Apache-2.0
"""Intel's Application Performance Snapshot: the chart of `aps-report -x -V 0 -T 0 -N 0`.

Source: Intel, APS user guide, Data Transfers per Rank-to-Rank Communication, of 2020 (pairs) and of
2022 (both directions apart), and Filtering by Number of Lines. That its MB have 2^20 bytes follows
from the guide's example of functions: 3.8147e-06 MB of one message are 4 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.traffic_files.rank_matrix import MAX_RANKS, RankMatrix, traffic_of
from fairlead.model.traffic import Traffic

__all__ = ["is_aps", "read_aps"]

TITLE = "Data Transfers per Rank-to-Rank Communication"
MEGABYTE = 2**20

MOST = 1e12
"""Megabytes, an exabyte, and messages."""

_LOOKED_AT_BYTES = 2**16
_COLUMNS = ("Volume(MB)", "Transfers")
_HEADING = re.compile(r"[|\s]*Rank\s*(-->|<->)\s*Rank\s+(.*)", re.A)
_ROW = re.compile(r"\s*(\d{1,7})\s*(-->|<->)\s*(\d{1,7})\s+(.*)", re.A)
_SKIPPED = re.compile(r"[|\s]*\[skipped (\d+) lines?\]\s*", re.A)
_TOTAL = re.compile(r"[|\s]*TOTAL\s+(.*)", re.A)
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", re.A)

ROUNDED_RATIO = 1e-4
"""By which sums and totals of six digits may differ."""

ALL_LINES = "print all of them: aps-report -x -V 0 -T 0 -N 0 RESULT"


class Columns(NamedTuple):
    """Which columns a chart has.

    Attributes:
        arrow: Between the ranks: `-->` from the first to the second, `<->` both ways.
        names: Names of the columns after the ranks.
    """

    arrow: str
    names: Sequence[str]


def is_aps(path: Path) -> bool:
    """By the title of the chart."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return TITLE.encode() in stream.read(_LOOKED_AT_BYTES)
    except OSError:
        return False


def read_aps(path: Path) -> Traffic:
    """Read the chart of all pairs of ranks.

    A chart with pairs does not say who sent what: each direction gets a half, and the origin says
    so. Messages of collectives are in it, and not known as such.

    Raises:
        InputError: Lines are left out or cut off, or one is not understood.
    """
    sent = RankMatrix()
    columns: Columns | None = None
    total: float | None = None
    counted = 0.0
    for number, line in enumerate(read_lines(path), 1):
        where = f"{path}:{number}"
        if heading := _HEADING.fullmatch(line):
            columns = Columns(heading[1], heading[2].split())
            if missing := [name for name in _COLUMNS if name not in columns.names]:
                raise InputError(f"{where}: no column {missing[0]}; expected {', '.join(_COLUMNS)}")
        elif skipped := _SKIPPED.fullmatch(line):
            raise InputError(f"{where}: {skipped[1]} lines are left out; {ALL_LINES}")
        elif columns is None:
            continue
        elif row := _ROW.fullmatch(line):
            counted += _add(where, columns, row, sent)
        elif found := _TOTAL.fullmatch(line):
            total = _values(where, columns, found[1])[1]
            break
        elif line.strip("|-= \t"):
            raise InputError(f"{where}: expected two ranks and numbers, got {line.strip()!r:.80}")
    if columns is None or total is None:
        lacks = "heading" if columns is None else "line TOTAL"
        raise InputError(f"{path}: has no {lacks} of the chart {TITLE!r}, or is cut off")
    if abs(counted - total) > ROUNDED_RATIO * total:
        raise InputError(
            f"{path}: its lines have {counted:.0f} transfers of {total:.0f}; {ALL_LINES}"
        )
    origin = {"how": "given", "file": str(path), "counted_by": "Intel APS"}
    if columns.arrow == "<->":
        origin["directions"] = "not known: each has half of the bytes of a pair"
    return traffic_of(sent, RankMatrix(), sent.num_ranks, origin)


def _add(where: str, columns: Columns, row: re.Match[str], sent: RankMatrix) -> float:
    """Add a line of the chart; its number of transfers."""
    src, dst = int(row[1]), int(row[3])
    if row[2] != columns.arrow:
        raise InputError(f"{where}: expected {columns.arrow} between the ranks, got {row[2]}")
    if max(src, dst) >= MAX_RANKS:
        raise InputError(f"{where}: rank {max(src, dst)}: at most {MAX_RANKS} ranks are read")
    megabytes, transfers = _values(where, columns, row[4])
    size, messages = round(megabytes * MEGABYTE), round(transfers)
    largest = -(-size // max(messages, 1))
    if columns.arrow == "<->" and src != dst:
        sent.add(dst, src, size // 2, messages // 2, largest)
        size, messages = size - size // 2, messages - messages // 2
    sent.add(src, dst, size, messages, largest)
    return transfers


def _values(where: str, columns: Columns, text: str) -> tuple[float, float]:
    """Megabytes and transfers of a line."""
    cells = text.split()
    if len(cells) != len(columns.names) or not all(map(_NUMBER.fullmatch, cells)):
        raise InputError(
            f"{where}: expected {len(columns.names)} numbers ({' '.join(columns.names)}), got "
            f"{text.strip()!r:.80}"
        )
    megabytes, transfers = (float(cells[columns.names.index(name)]) for name in _COLUMNS)
    if max(megabytes, transfers) > MOST:
        raise InputError(f"{where}: {max(megabytes, transfers):g}: at most {MOST:g} is possible")
    return megabytes, transfers
