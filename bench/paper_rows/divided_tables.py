# SPDX-License-Identifier: Apache-2.0
"""Long tables in parts: rows whose names begin alike, under a heading of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PARTS_FROM = 10
"""So many rows are divided."""
LEAST_ROWS_OF_A_PART = 3
"""On average; smaller parts are more headings than rows."""
MOST_PARTS_OF_A_NAME = 3


class Table(NamedTuple):
    """Lines of Markdown.

    Attributes:
        head: The two lines above the rows.
        rows: The name and the line of each row, in order.
    """

    head: tuple[str, str]
    rows: Sequence[tuple[str, str]]


def divide_table(table: Table) -> Iterator[str]:
    """The lines of the table, or of its parts with their headings, as Markdown."""
    parts = _parts_of(table.rows)
    num_rows = len(table.rows)
    if num_rows < PARTS_FROM or not 1 < len(parts) <= num_rows / LEAST_ROWS_OF_A_PART:
        yield from (*table.head, *(line for _, line in table.rows))
        return
    for number, (begin, lines) in enumerate(parts.items()):
        yield from ([""] if number else [])
        yield from (f"### {begin}", "", *table.head, *lines)


def _parts_of(rows: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Lines by the beginning of their names, which is as long as it takes to differ."""
    parts: dict[str, list[str]] = {}
    for length in range(1, MOST_PARTS_OF_A_NAME + 1):
        parts = {}
        for name, line in rows:
            ends = [match.start() for match in re.finditer(r"[,:] ", name)]
            begin = name[: ends[length - 1]] if len(ends) >= length else name
            parts.setdefault(begin, []).append(line)
        if len(parts) > 1:
            break
    return parts
