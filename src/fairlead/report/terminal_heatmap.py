# SPDX-License-Identifier: Apache-2.0
"""A coloured table of numbers that fits the terminal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from rich.console import Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from fairlead.report.blocks import Blocks, block_labels, reduce_blocks, split_evenly, sum_blocks
from fairlead.report.palette import ink_on, viridis
from fairlead.report.scales import Scale, common_scale

Matrix = npt.NDArray[np.float64]

CELL_COLUMNS = 6
LABEL_COLUMNS = 20
CORNER = "src \\ dst"


def heatmap(
    matrix: Matrix | sp.csr_array,
    names: Sequence[str],
    *,
    title: str,
    family: tuple[Scale, ...],
    reduce: Callable[[Any], Any] = np.sum,
    width: int,
    is_low_bright: bool = False,
    max_blocks: int = 24,
) -> Group:
    """A title, and one coloured cell per pair, or per pair of blocks where there is no room.

    Args:
        matrix: Values in base units, shape (n, n), [src, dst]; `nan` and `inf` stay uncoloured. A
            sparse one stays sparse, and its blocks are sums.
        names: Name of each row and column, length n.
        title: What is shown; the unit is added to it.
        family: Units to choose one from, for example `scales.SECONDS`.
        reduce: Makes one value of a block of a dense matrix, for example `np.nanmedian`.
        width: Columns of the terminal.
        is_low_bright: Draw small values bright, for quantities of which less is better.
        max_blocks: Most cells in a row.
    """
    names = _in(LABEL_COLUMNS, names)
    blocks = _blocks(len(names), _longest(names), width, max_blocks)
    if len(blocks) < len(names):  # A block is named by its first and its last member.
        names = _in((LABEL_COLUMNS - 1) // 2, names)
        blocks = _blocks(len(names), 2 * _longest(names) + 1, width, max_blocks)
    cells = _cells(matrix, blocks, reduce)
    scale = common_scale(cells, family)
    unit = f" ({scale.unit})" if scale.unit else ""
    grouped = f", blocks of {len(blocks[0])}" if len(blocks) < len(names) else ""
    # The title of a table breaks at the table's width, which two hosts make narrow.
    heading = Text(f"{title}{unit}{grouped}", style="bold")
    table = Table()
    table.box, table.show_edge, table.pad_edge = None, False, False
    table.padding = (0, 0)
    labels = block_labels(names, blocks)
    table.add_column(CORNER, no_wrap=True, max_width=LABEL_COLUMNS, overflow="ellipsis")
    for label in column_labels(names, blocks):
        table.add_column(
            Text(label),
            justify="right",
            no_wrap=True,
            width=CELL_COLUMNS,
            overflow="ellipsis",
        )
    for label, row in zip(labels, cells, strict=True):
        table.add_row(Text(label), *_color(row, cells, scale, is_low_bright))
    return Group(heading, table)


def _cells(matrix: Matrix | sp.csr_array, blocks: Blocks, reduce: Callable[[Any], Any]) -> Matrix:
    if sp.issparse(matrix):
        return sum_blocks(matrix, blocks)
    return reduce_blocks(matrix, blocks, reduce) if len(blocks) < len(matrix) else matrix


def _blocks(num_names: int, longest: int, width: int, max_blocks: int) -> Blocks:
    label_columns = min(LABEL_COLUMNS, max(len(CORNER), longest))
    return split_evenly(num_names, min((width - label_columns - 1) // CELL_COLUMNS, max_blocks))


def column_labels(names: Sequence[str], blocks: Blocks) -> list[str]:
    """The distinct part of each block's first name, short enough for a cell."""
    room = CELL_COLUMNS - 1
    own = _in(room, names)
    firsts = [own[block[0]] for block in blocks]
    return [label if len(label) <= room else f"…{label[1 - room :]}" for label in firsts]


def _longest(names: Sequence[str]) -> int:
    return max(len(name) for name in names)


def _in(room: int, names: Sequence[str]) -> Sequence[str]:
    """The names, where one is longer than `room` without the start and the end common to all."""
    if _longest(names) <= room or len(set(names)) < 2:
        return names
    # A number that starts or ends alike is kept whole: node10 and node11 differ in 10 and 11.
    start = len(_common_start(names).rstrip("0123456789"))
    rests = [name[start:][::-1] for name in names]
    end = len(_common_start(rests).rstrip("0123456789"))
    return [rest[end:][::-1] for rest in rests]


def _common_start(names: Sequence[str]) -> str:
    alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)


def _color(row: Matrix, cells: Matrix, scale: Scale, is_low_bright: bool) -> list[Text]:
    usable = cells[np.isfinite(cells) & (cells > 0)]
    high = usable.max() if usable.size else 0.0
    texts = []
    for value in row:
        text = "·" if value == 0 else _fit(value, scale)
        if not (math.isfinite(value) and value > 0):
            texts.append(Text(f"{text} ", style="dim"))
            continue
        # Starting at zero, an even network looks even: its noise does not fill the whole scale.
        position = value / high
        color = viridis(1 - position if is_low_bright else position)
        style = Style(color=ink_on(color), bgcolor=f"rgb({color[0]},{color[1]},{color[2]})")
        texts.append(Text(f"{text} ".rjust(CELL_COLUMNS), style=style))
    return texts


def _fit(value: float, scale: Scale) -> str:
    """The value in the unit of all cells, as short as a cell is wide."""
    text, number = scale.text(value), value / scale.factor
    if len(text) < CELL_COLUMNS:
        return text
    if abs(number) < 1:
        return f"{number:.3f}" if number >= 0.0005 else "<.001"
    digits, _, exponent = f"{number:.1e}".partition("e")
    return f"{digits}e{int(exponent)}"
