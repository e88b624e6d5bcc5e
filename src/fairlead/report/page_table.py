# SPDX-License-Identifier: Apache-2.0
"""Tables of the page, with headings and captions, which scroll if they are too wide."""

from __future__ import annotations

import html
from collections.abc import Sequence

SHORT_ROWS = 16
"""Most rows of a table that is kept on one printed page."""
MANY_ROWS = 64
"""From this many lines on, a list is folded."""


def table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    marked_row: int | None = None,
) -> str:
    """HTML of a table that scrolls within itself, by keyboard too, where the page is too narrow.

    Args:
        caption: Its content, plain text, for readers who cannot see the text around it.
        columns: Headings, plain text.
        rows: Cells, plain text; the first of each row names it.
        marked_row: The row to stand out.
    """
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
    body = ""
    for index, (first, *others) in enumerate(rows):
        cells = "".join(f"<td>{html.escape(text)}</td>" for text in others)
        mark = ' class="marked"' if index == marked_row else ""
        body += f'<tr{mark}><th scope="row">{html.escape(first)}</th>{cells}</tr>'
    name = html.escape(caption)
    classes = "scroll short" if len(rows) <= SHORT_ROWS else "scroll"
    return (
        f'<div class="{classes}" role="region" tabindex="0" aria-label="{name}"><table>'
        f'<caption class="unseen">{name}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """HTML of a list of names with their values, folded if it is long."""
    items = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>" for name, value in pairs
    )
    listed = f"<dl>{items}</dl>"
    return listed if len(pairs) <= MANY_ROWS else fold(f"All {len(pairs)} lines", listed)


def fold(title: str, body: str) -> str:
    """HTML that opens when its title is chosen; works without scripts."""
    return f"<details><summary>{html.escape(title)}</summary>{body}</details>"
