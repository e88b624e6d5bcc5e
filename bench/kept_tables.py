# SPDX-License-Identifier: Apache-2.0
"""`--tables FILE` of a benchmark: the tables that it prints, as JSON for `bench/record`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.table import Table
from rich.text import Text


def add_tables_option(parser: argparse.ArgumentParser) -> None:
    """Add the option; without it nothing is written."""
    parser.add_argument(
        "--tables", type=Path, metavar="FILE", help="write the tables there, as JSON"
    )


def write_tables(path: Path | None, *tables: Table) -> None:
    """Write what the tables show, if there is a file for it."""
    if path is not None:
        found = [
            {
                "title": _plain(table.title),
                "columns": [_plain(column.header) for column in table.columns],
                "rows": [
                    list(cells)
                    for cells in zip(
                        *([_plain(cell) for cell in column.cells] for column in table.columns),
                        strict=True,
                    )
                ],
            }
            for table in tables
        ]
        path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")


def _plain(cell: object) -> str:
    """A cell without its colours, in one line."""
    text = cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell or "")).plain
    return " ".join(text.split())
