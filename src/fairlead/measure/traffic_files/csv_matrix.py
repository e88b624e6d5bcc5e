# SPDX-License-Identifier: Apache-2.0
"""Traffic as comma-separated values: a row for each ordered pair of ranks."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.traffic_files.rank_matrix import MAX_RANKS, RankMatrix, traffic_of
from fairlead.model.traffic import Traffic

__all__ = ["csv_lines", "read_csv"]

_NEEDED = ("src", "dst", "bytes")
_COLUMNS = ("src", "dst", "kind", "bytes", "messages", "max_message_bytes")
_KINDS = ("p2p", "alltoall")
_MOST = 2**63 - 1
_BYTE_ORDER_MARK = "\ufeff"


def read_csv(path: Path) -> Traffic:
    """Read a CSV file with a heading.

    Columns `src`, `dst` and `bytes` are needed. `messages` is 1 without a value, and
    `max_message_bytes` the mean size. `kind` is "p2p", or "alltoall" for what collectives that
    send from each rank to each other hand over. Rows of the same pair are added.

    Raises:
        InputError: It cannot be read, or a row is not of this form; the message names the line.
    """
    reader = csv.DictReader(line.removeprefix(_BYTE_ORDER_MARK) for line in read_lines(path))
    columns = [name.strip() for name in reader.fieldnames or ()]
    if missing := [name for name in _NEEDED if name not in columns]:
        raise InputError(
            f"{path}:1: no column {missing[0]}; expected a heading with {', '.join(_NEEDED)} and "
            "perhaps kind, messages, max_message_bytes"
        )
    if twice := next((name for name in _COLUMNS if columns.count(name) > 1), None):
        raise InputError(f"{path}:1: column {twice} is there twice")
    reader.fieldnames = columns
    sent = {kind: RankMatrix() for kind in _KINDS}
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if None in row:
            raise InputError(f"{where}: has more values than the heading has columns")
        kind = (row.get("kind") or "p2p").strip()
        if kind not in sent:
            raise InputError(f"{where}: kind {kind!r}: expected {' or '.join(_KINDS)}")
        src, dst = (_number(row, name, where, MAX_RANKS - 1) for name in ("src", "dst"))
        sent_bytes = _number(row, "bytes", where)
        messages = _number(row, "messages", where, default=1)
        mean_bytes = -(-sent_bytes // max(messages, 1))
        largest = _number(row, "max_message_bytes", where, default=mean_bytes)
        sent[kind].add(src, dst, sent_bytes, messages, largest)
    num_ranks = max(matrix.num_ranks for matrix in sent.values())
    if num_ranks == 0:
        raise InputError(f"{path}: has no rows")
    origin = {"how": "given", "file": str(path)}
    return traffic_of(sent["p2p"], sent["alltoall"], num_ranks, origin)


def _number(
    row: dict[str, str | None], name: str, where: str, most: int = _MOST, default: int | None = None
) -> int:
    text = (row.get(name) or "").strip()
    if not text and default is not None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= most):
        raise InputError(f"{where}: {name}: expected a whole number from 0 to {most}, got {text!r}")
    return int(text)


def csv_lines(traffic: Traffic) -> Iterator[str]:
    """The lines of a CSV file that `read_csv` reads, with all but the table of collectives."""
    yield ",".join(_COLUMNS)
    exchange = (
        traffic.exchange_bytes, traffic.exchange_messages, traffic.exchange_max_message_bytes,
    )  # fmt: skip
    p2p = (traffic.bytes, traffic.messages, traffic.max_message_bytes)
    for kind, planes in zip(_KINDS, (p2p, exchange), strict=True):
        bytes_, messages, largest = (plane.toarray() for plane in planes if plane is not None)
        for src, dst in zip(*(messages + bytes_).nonzero(), strict=True):
            values = (bytes_[src, dst], messages[src, dst], largest[src, dst])
            yield f"{src},{dst},{kind}," + ",".join(f"{value:.0f}" for value in values)
