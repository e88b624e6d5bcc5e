# SPDX-License-Identifier: Apache-2.0
"""Tables of Markdown from plain texts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def plain(text: str) -> str:
    """A text as one cell: its line breaks stay, and nothing in it is markup."""
    escaped = html.escape(text, quote=False).replace("|", "&#124;")
    for mark in "*_[]`":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped.strip().replace("\n", "<br>")


def code(text: str) -> str:
    """A text as code in a cell."""
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"
