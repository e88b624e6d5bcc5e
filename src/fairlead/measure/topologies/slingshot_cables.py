# SPDX-License-Identifier: Apache-2.0
"""HPE Slingshot's list of cables, point to point, by xnames.

Source: the file Shasta_system_hsn_pt_pt.csv of the fabric manager, as HPE's System Admin Toolkit
reads it and its tests have it; xnames by HPE Cray EX, component names.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.documents import require_few
from fairlead.measure.topologies.infiniband_text import MOST_SHOWN, Passed
from fairlead.measure.topologies.shortest_paths import require_table

__all__ = ["Cables", "node_of", "read_cables", "switch_of"]

COLUMNS = (
    *("src_conn_a", "src_conn_b", "dst_conn_a", "dst_conn_b"),
    *("link_type", "src_group", "dst_group"),
)
FIRST_COLUMN = "cable_id"
TYPES = ("edge", "local", "global")

MOST_SWITCHES = 2**14
"""An address has 9 bits for the group and 5 for the switch in it (AMA)."""

MOST_ADAPTERS = 4
"""Adapters of each node."""

MOST_CABLES = 2**20
"""Each of 2**14 switches has 64 ports."""

MOST_LINE = 2 * MOST_SHOWN

_JACK = re.compile(r"(x\d+c\d+r\d+)j\d+(?:p\d+)?", re.A)
_ADAPTER = re.compile(r"(x\d+c\d+s\d+(?:b\d+)?n\d+)h\d+", re.A)


class Row(NamedTuple):
    """A cable of the file.

    Attributes:
        where: File and line.
        kind: edge, local or global.
        src, dst: Connectors at its ends, without dots.
        groups: Groups of both ends, as the file has them.
    """

    where: str
    kind: str
    src: Sequence[str]
    dst: Sequence[str]
    groups: tuple[str, str]


class Cables(NamedTuple):
    """What the file holds.

    Attributes:
        group_of: Group of each switch, by xname.
        between: Connectors of switches at both ends of each cable.
        adapters: The connector that each adapter of a node is on.
        lost: Rows that were passed over.
    """

    group_of: dict[str, int]
    between: dict[tuple[str, str], None]
    adapters: dict[str, str]
    lost: Passed


def read_cables(path: Path) -> Cables:
    """Switches with their groups, cables between them, and adapters.

    Raises:
        InputError: It is something else, is cut off, or contradicts itself.
    """
    found = Cables({}, {}, {}, Passed())
    for row in _rows(path):
        jacks = [[each for each in end if _JACK.fullmatch(each)] for end in (row.src, row.dst)]
        adapters = [each for end in (row.src, row.dst) for each in end if _ADAPTER.fullmatch(each)]
        if row.kind == "edge" and sum(map(len, jacks)) == 1 and adapters:
            which = 0 if jacks[0] else 1
            _add_switch(row, found.group_of, jacks[which][0], row.groups[which])
            for adapter in adapters:
                jack = found.adapters.setdefault(adapter, jacks[which][0])
                if jack != jacks[which][0]:
                    raise InputError(f"{row.where}: {adapter} is on {jack}, too")
            require_few(path, len(found.adapters) // MOST_ADAPTERS)
            require_table(str(path), len(found.group_of), len(found.adapters))
        elif row.kind != "edge" and jacks[0] and jacks[1]:
            for end, group in zip(jacks, row.groups, strict=True):
                _add_switch(row, found.group_of, end[0], group)
            is_local = row.groups[0] == row.groups[1]
            if is_local != (row.kind == "local"):
                raise InputError(
                    f"{row.where}: a {row.kind} cable between groups {row.groups[0]} and "
                    f"{row.groups[1]}"
                )
            found.between.setdefault((jacks[0][0], jacks[1][0]))
        else:
            found.lost.add(f"{row.where}: {row.kind} {' '.join([*row.src, *row.dst])}"[:MOST_LINE])
        if len(found.between) > MOST_CABLES:
            raise InputError(f"{path}: has more than {MOST_CABLES} cables between switches")
    return found


def _add_switch(row: Row, group_of: dict[str, int], jack: str, group: str) -> None:
    """Keep the group of the switch that a connector is on.

    Raises:
        InputError: It is no number, or was another one; or there are too many switches.
    """
    if not re.fullmatch(r"\d{1,6}", group, re.A):
        raise InputError(f"{row.where}: group {group!r} of {jack}: expected a number")
    switch = switch_of(jack)
    known = group_of.setdefault(switch, int(group))
    if known != int(group):
        raise InputError(f"{row.where}: {switch} is in group {group}, but was in group {known}")
    if len(group_of) > MOST_SWITCHES:
        raise InputError(f"{row.where}: is after more than {MOST_SWITCHES} switches")


def _rows(path: Path) -> Iterator[Row]:
    """The cables, after lines of what has made the file."""
    columns: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        where = f"{path}:{number}"
        try:
            cells = next(csv.reader([line.removeprefix("\ufeff")]), [])
        except csv.Error as error:
            raise InputError(f"{where}: {error}") from error
        if not columns:
            if cells and cells[0].strip() == FIRST_COLUMN:
                columns = [cell.strip() for cell in cells]
                missing = [name for name in COLUMNS if name not in columns]
                if missing:
                    raise InputError(f"{where}: has no column {missing[0]}")
            continue
        if not any(cell.strip() for cell in cells):
            continue
        row = dict(zip(columns, (cell.strip().lower() for cell in cells), strict=False))
        if len(cells) < len(columns):
            raise InputError(f"{where}: is cut off: {len(cells)} of {len(columns)} columns")
        if row["link_type"] not in TYPES:
            raise InputError(
                f"{where}: link_type {row['link_type']!r}: expected {', '.join(TYPES)}"
            )
        src, dst = (
            [row[f"{end}_conn_{which}"].replace(".", "") for which in "ab"]
            for end in ("src", "dst")
        )
        yield Row(where, row["link_type"], src, dst, (row["src_group"], row["dst_group"]))
    if not columns:
        raise InputError(
            f"{path}: has no heading with {FIRST_COLUMN}; expected Slingshot's list of cables, "
            "Shasta_system_hsn_pt_pt.csv"
        )


def node_of(adapter: str) -> str:
    """The node that an adapter is in."""
    return adapter.rpartition("h")[0]


def switch_of(jack: str) -> str:
    """The switch that a connector is on."""
    return jack.partition("j")[0]
