# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's ibdiagnet2, as UFM runs it, too: nodes and links of the tables in its .db_csv."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from fairlead.errors import InputError
from fairlead.measure.topologies.infiniband_text import (
    MOST_SHOWN,
    Cable,
    Fabric,
    Node,
    Passed,
    require_fabric,
)

__all__ = ["parse_tables"]

KINDS = {"1": "Ca", "2": "Switch", "3": "Rt"}
"""Source: IBTA, NodeInfo: NodeType."""

UNKNOWN_BPS = float("nan")

MOST_LETTERS = 2**16
"""Longest line that is read: a file of something else may be one line."""

_BEGIN = re.compile(r"START_(\w+)\s*", re.A)
_END = re.compile(r"END_(\w+)\s*", re.A)
_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})", re.A)

_COLUMNS = {
    "NODES": ("NodeDesc", "NodeType", "SystemImageGUID", "NodeGUID"),
    "PORTS": ("NodeGuid", "PortNum", "LID"),
    "LINKS": ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"),
}


def parse_tables(path: Path) -> Fabric:
    """Nodes and cables. The file is read line by line, since its other tables are many and large.

    Speeds are not taken: their codes differ between versions.

    Raises:
        InputError: It is something else, or a table has not the columns that are needed.
    """
    nodes: dict[str, Node] = {}
    cables: dict[tuple[str, int], Cable] = {}
    lids: dict[str, int] = {}
    lost = Passed()
    shared: dict[str, str] = {}
    for number, table, row in _rows(path):
        try:
            if table == "NODES":
                guid, system = _guid(row["NodeGUID"]), _guid(row["SystemImageGUID"])
                kind = KINDS[row["NodeType"].strip()]
                nodes[guid] = Node(guid, kind, row["NodeDesc"].strip(), system)
            elif table == "PORTS":
                lids.setdefault(_guid(row["NodeGuid"]), int(row["LID"], 0))
            else:
                guids = [_guid(row[f"NodeGuid{i}"]) for i in (1, 2)]
                guids = [shared.setdefault(guid, guid) for guid in guids]
                ends = list(zip(guids, (int(row[f"PortNum{i}"]) for i in (1, 2)), strict=True))
                for (src, src_port), (dst, dst_port) in (ends, ends[::-1]):
                    cable = Cable(src, src_port, dst, dst_port, UNKNOWN_BPS)
                    cables.setdefault((src, src_port), cable)  # it may be listed from both ends
        except (KeyError, ValueError) as error:
            lost.add(f"line {number} of {table}: {error!r}"[:MOST_SHOWN])
        require_fabric(path, max(len(nodes), len(lids)), len(cables))
    if not cables:
        raise InputError(
            f"{path}: holds no link; expected the tables NODES and LINKS of ibdiagnet2.db_csv"
        )
    for guid, lid in lids.items():
        if guid in nodes:
            nodes[guid].lid = lid
    return Fabric(nodes, *_seen(nodes, [*cables.values()], lost))


def _seen(
    nodes: dict[str, Node], cables: list[Cable], lost: Passed
) -> tuple[list[Cable], list[str]]:
    """Cables between nodes that are known, and lines of what is missing."""
    seen = [cable for cable in cables if cable.src in nodes and cable.dst in nodes]
    problems = []
    if len(seen) < len(cables):
        problems.append(
            f"{(len(cables) - len(seen)) // 2} cables lead to nodes that the file does not describe"
        )
    if lost.count:
        problems.append(f"{lost.count} rows were passed over, the first is {lost.first}")
    return seen, problems


def _rows(path: Path) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Number, table and columns of each row of the tables that are needed.

    Raises:
        InputError: The file cannot be read, a line is too long, or a table has other columns.
    """
    table = ""
    columns: list[str] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MOST_LETTERS), ""), 1):
                if len(line) == MOST_LETTERS:
                    raise InputError(f"{path}:{number}: is longer than {MOST_LETTERS} letters")
                begin = _BEGIN.fullmatch(line)
                if begin:
                    table, columns = begin[1], []
                elif _END.fullmatch(line):
                    table = ""
                elif table in _COLUMNS and line.strip():
                    cells = next(csv.reader([line.rstrip("\n")], skipinitialspace=True))
                    if columns:
                        yield number, table, dict(zip(columns, cells, strict=False))
                        continue
                    columns = [cell.strip() for cell in cells]
                    missing = [name for name in _COLUMNS[table] if name not in columns]
                    if missing and table != "PORTS":
                        raise InputError(f"{path}:{number}: {table} has no column {missing[0]}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except csv.Error as error:
        raise InputError(f"{path}:{number}: {error}") from error


def _guid(text: str) -> str:
    match = _GUID.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no GUID: {text[:MOST_SHOWN]!r}")
    return f"{int(match[1], 16):x}"
