# SPDX-License-Identifier: Apache-2.0
"""The figures of an item as a table: a row a figure, or a matrix where names have common parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from divided_tables import Table, divide_table
from rows import Figure

MATRIX_FROM = 24
"""So many figures are shown as a matrix if they form one; fewer are easier to read one by one."""
MOST_COLUMNS = 8
LEAST_FILLED_RATIO = 0.45

Column = tuple[str, str]
"""Last part of a figure's name ("" where only the unit differs), and its unit."""
Matrix = dict[str, dict[Column, Figure]]


def table_of(figures: Sequence[Figure]) -> Iterator[str]:
    """The lines of the table, or of its parts with their headings, as Markdown."""
    matrix = _matrix_of(figures) if len(figures) >= MATRIX_FROM else None
    table = _one_by_one(figures) if matrix is None else _side_by_side(matrix)
    yield from divide_table(table)


def _one_by_one(figures: Sequence[Figure]) -> Table:
    rows = [
        (
            figure.name,
            f"| {figure.name} | {figure.unit} | {_number(figure.paper)} | {_value(figure)} | "
            f"{figure.samples:,} |",
        )
        for figure in figures
    ]
    return Table(("| figure | unit | paper | here | runs |", "|---|---|---:|---:|---:|"), rows)


def _side_by_side(matrix: Matrix) -> Table:
    columns = _columns(matrix)
    heads = [f"{part} ({unit})" if part else unit for part, unit in columns]
    rows = []
    for name, figures in matrix.items():
        cells = [_with_paper(figures[column]) if column in figures else "" for column in columns]
        runs = next(iter(figures.values())).samples
        rows.append((name, f"| {name} | {' | '.join(cells)} | {runs:,} |"))
    head = f"| figure | {' | '.join(heads)} | runs |", "|---|" + "---:|" * (len(columns) + 1)
    return Table(head, rows)


def _matrix_of(figures: Sequence[Figure]) -> Matrix | None:
    """The matrix with the fewest cells; None where names do not divide into rows and columns."""
    divided = [_divide(figures, *how) for how in product((": ", ", "), (1, 2, -1))]
    found = [matrix for matrix in (*divided, _divide(figures, "", 0)) if matrix is not None]
    return min(found, key=lambda matrix: len(matrix) * (1 + len(_columns(matrix))), default=None)


def _divide(figures: Sequence[Figure], separator: str, position: int) -> Matrix | None:
    """Names divided at the separator of this number, or (-1) the last; at 0 by the unit alone."""
    matrix: Matrix = {}
    for figure in figures:
        parts = figure.name.split(separator) if separator else [figure.name]
        cut = position if len(parts) > abs(position) > 0 else len(parts)
        row, part = separator.join(parts[:cut]), separator.join(parts[cut:])
        if (part, figure.unit) in matrix.setdefault(row, {}):
            return None
        matrix[row][part, figure.unit] = figure
    columns = len(_columns(matrix))
    has_shape = 2 <= columns <= MOST_COLUMNS
    is_filled = len(figures) >= LEAST_FILLED_RATIO * len(matrix) * columns
    runs_by_row = [{figure.samples for figure in row.values()} for row in matrix.values()]
    same_runs = all(len(runs) == 1 for runs in runs_by_row)
    return matrix if has_shape and is_filled and same_runs else None


def _columns(matrix: Matrix) -> list[Column]:
    """All columns, in the order in which the figures name them."""
    return list(dict.fromkeys(column for row in matrix.values() for column in row))


def _with_paper(figure: Figure) -> str:
    value = _value(figure)
    return value if figure.paper is None else f"{value}; paper: {_number(figure.paper)}"


def _value(figure: Figure) -> str:
    value = _number(figure.value)
    if figure.low is None or figure.high is None:
        return value
    return f"{value} [{_number(figure.low)}, {_number(figure.high)}]"


def _number(value: float | str | None) -> str:
    """At most four significant digits, without an exponent where that is readable."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if value == round(value) and abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
