# SPDX-License-Identifier: Apache-2.0
"""docs/reference/papers.md: what each paper shows, and what its rerun gave here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rows import PAPERS, ROOT, Figure, Result, Row, load_result

PAGE = ROOT / "docs" / "reference" / "papers.md"

HEAD = """\
# The five papers, item by item

Each formula, algorithm, figure, table and headline number of the five papers that Fairlead
implements has a row here. The page of its paper says what the paper shows and under which
conditions, our conditions and figures, and what differs.

    bench/papers --list          # all items
    bench/papers cmpi-figure-6   # runs one and keeps its figures
    bench/papers --write         # writes these pages from the rows and the kept figures
"""

HEAD_OF_PAPER = """\
# {name}, item by item

Figures in brackets are 95 % intervals over the runs in the last column. Figures without brackets
are counts, single draws, or simulations without random choices. [All papers](../papers.md).
"""


def pages_of(rows: Sequence[Row]) -> dict[Path, str]:
    """The overview and a page for each paper, as Markdown."""
    pages = {PAGE: "\n".join([HEAD, *_overview(rows), *_lists(rows)]).rstrip() + "\n"}
    for paper, name in PAPERS.items():
        sections = [_section(row) for row in rows if row.paper == paper]
        text = "\n".join([HEAD_OF_PAPER.format(name=name), *sections])
        pages[PAGE.with_suffix("") / f"{paper}.md"] = text.rstrip() + "\n"
    return pages


def _overview(rows: Sequence[Row]) -> Iterator[str]:
    yield "| paper | items | rerun | shown by a test | left out | contradict the paper |"
    yield "|---|---:|---:|---:|---:|---:|"
    for paper, name in PAPERS.items():
        of_paper = [row for row in rows if row.paper == paper]
        left_out = sum(row.left_out is not None for row in of_paper)
        rerun = sum(row.result for row in of_paper)
        against = sum(row.contradicts is not None for row in of_paper)
        tested = len(of_paper) - left_out - rerun
        counts = (len(of_paper), rerun, tested, left_out, against)
        yield f"| [{name}](papers/{paper}.md) | {' | '.join(map(str, counts))} |"
    yield ""
    contradictions = [row for row in rows if row.contradicts is not None]
    if contradictions:
        yield "## Where our results contradict a paper\n"
        for row in contradictions:
            yield f"- {PAPERS[row.paper]}, {_link(row)}: {row.contradicts}"
        yield ""


def _lists(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each item: where it stands in the paper, and what shows it here."""
    for paper, name in PAPERS.items():
        yield f"## {name}\n"
        yield "| item | what | shown by |"
        yield "|---|---|---|"
        for row in rows:
            if row.paper == paper:
                shown = "left out" if row.left_out is not None else f"`{row.command}`"
                yield f"| {_link(row)} | {row.kind} | {shown.replace('|', chr(92) + '|')} |"
        yield ""


def _link(row: Row) -> str:
    return f"[{row.place}](papers/{row.paper}.md#{row.id})"


def _section(row: Row) -> str:
    lines = [f"### {row.id}\n", f"{PAPERS[row.paper]}, {row.place} ({row.kind}).\n"]
    lines.append(f"- The paper: {row.shows}")
    lines.append(f"- Its conditions: {row.conditions}")
    if row.left_out is not None:
        return "\n".join([*lines, f"- Left out: {row.left_out}", ""])
    lines.append(f"- Here: `bench/papers {row.id}` runs `{row.command}`")
    lines.append(f"- Conditions here: {row.here}")
    lines.append(f"- What differs: {row.differs}")
    if row.contradicts is not None:
        lines.append(f"- **Contradicts the paper:** {row.contradicts}")
    if row.result:
        lines += _figures(load_result(row))
    return "\n".join([*lines, ""])


def _figures(result: Result) -> Iterator[str]:
    yield ""
    yield "| figure | unit | paper | here | runs |"
    yield "|---|---|---:|---:|---:|"
    for figure in result.figures:
        paper = _number(figure.paper)
        yield f"| {figure.name} | {figure.unit} | {paper} | {_value(figure)} | {figure.samples:,} |"
    yield ""
    yield (
        f"Commit {result.commit}, {result.date}, {result.machine}, {_duration(result.duration_s)}."
    )


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


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
