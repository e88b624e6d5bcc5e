# SPDX-License-Identifier: Apache-2.0
"""Tables in the terminal, all alike: no frame, text on the left, numbers on the right."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.table import Table
from rich.text import Text


def table(
    names: Iterable[str],
    *,
    texts: Collection[str] | None = None,
    title: str | None = None,
    width: int | None = None,
) -> Table:
    """An empty table, in which the first text gives way where there is no room.

    Args:
        names: Names of the columns.
        texts: Those of them that hold texts, the one that gives way first; None: the first alone.
        title: What it shows.
        width: Columns of the terminal that it fills with its last one, a text that may be broken;
            None for no more than it needs.
    """
    columns = list(names)
    of_text = columns[:1] if texts is None else list(texts)
    shown = Table(
        box=None,
        pad_edge=False,
        title=title,
        title_justify="left",
        title_style="bold",
        width=width,
    )
    for name in columns:
        fills = width is not None and name == columns[-1]
        shown.add_column(
            Text(name),
            justify="left" if name in of_text else "right",
            overflow="fold",
            no_wrap=not fills and name not in of_text[:1],
            ratio=1 if fills else None,
        )
    return shown
