# SPDX-License-Identifier: Apache-2.0
"""docs/reference/papers.md: what each paper shows, and what its rerun gave here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rows import PAPERS, ROOT, Figure, Result, Row, load_result

PAGE = ROOT / "docs" / "reference" / "papers.md"

HEAD = """\
# The five papers, item by item

Each formula, algorithm, figure, table and headline number of the five papers that Fairlead
implements has a row here: what the paper shows and under which conditions, the command that reruns
it, our conditions and figures, and what differs.

    bench/papers --list          # all items
    bench/papers cmpi-figure-5   # runs one and keeps its figures
    bench/papers --write         # writes this page from the rows and the kept figures

Figures in brackets are 95 % intervals over the runs in the last column. Figures without brackets
have no spread (a count, or a simulation without random choices).
"""


def page_of(rows: Sequence[Row]) -> str:
    """The whole page as Markdown."""
    parts = [HEAD, *_overview(rows)]
    for paper, name in PAPERS.items():
        of_paper = [row for row in rows if row.paper == paper]
        parts.append(f"## {name}\n")
        parts += [_section(row) for row in of_paper]
    return "\n".join(parts).rstrip() + "\n"


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
        yield f"| [{name}](#{paper}) | {' | '.join(map(str, counts))} |"
    yield ""
    contradictions = [row for row in rows if row.contradicts is not None]
    if contradictions:
        yield "Where our results contradict a paper:\n"
        for row in contradictions:
            yield f"- [{PAPERS[row.paper]}, {row.place}](#{row.id}): {row.contradicts}"
        yield ""


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
