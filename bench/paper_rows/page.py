# SPDX-License-Identifier: Apache-2.0
"""docs/reference/papers: what each paper shows, and what its rerun gave here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from chapters import Chapter, load_chapters
from figure_tables import table_of
from rows import PAPERS, ROOT, Result, Row, load_result

PAGE = ROOT / "docs" / "reference" / "papers.md"
FOLDER = PAGE.with_suffix("")

HEAD = """\
# The five papers, item by item

Each formula, algorithm, figure, table and headline number of the five papers that Fairlead
implements has a row here. The page of its paper says what the paper shows and under which
conditions, our conditions and figures, and what differs.

    bench/papers --list          # all items
    bench/papers cmpi-figure-6   # runs one and keeps its figures
    bench/papers --write         # writes these pages from the rows and the kept figures
"""

READING = """
## Reading the tables

Figures in brackets are 95 % intervals over the runs in the last column. Figures without brackets
are counts, single draws, or simulations without random choices. Below a table are the commit, the
date and the machine of the run, and how long it took. A table with many figures has its units in
the heads of the columns, and the paper's value after ours.
"""

HEAD_OF_PAPER = """\
# {name}, item by item

Each item of the paper has a row here, which leads to what the paper shows and what its rerun gave.
At the end are the results that contradict the paper. [All papers](../papers.md).
"""

HEAD_OF_CHAPTER = """\
# {title}

{about}

[All items of the paper]({paper}.md), [how to read the tables](../papers.md#reading-the-tables).
"""


def pages_of(rows: Sequence[Row]) -> dict[Path, str]:
    """The overview, a page for each paper and one for each of its chapters, as Markdown."""
    chapters = load_chapters(rows)
    pages = {PAGE: "\n".join([HEAD, *_overview(rows), READING])}
    for paper in PAPERS:
        of_paper = [chapter for chapter in chapters if chapter.paper == paper]
        rows_of_paper = [row for row in rows if row.paper == paper]
        pages[FOLDER / f"{paper}.md"] = "\n".join(_paper(paper, rows_of_paper, of_paper))
        for chapter in of_paper:
            pages[FOLDER / chapter.file_name] = "\n".join(_chapter(chapter, rows))
    return {page: text.rstrip() + "\n" for page, text in pages.items()}


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


def _paper(paper: str, rows: Sequence[Row], chapters: Sequence[Chapter]) -> Iterator[str]:
    """A line for each item: where it stands in the paper, and what shows it here."""
    yield HEAD_OF_PAPER.format(name=PAPERS[paper])
    file_of_item = {name: chapter.file_name for chapter in chapters for name in chapter.item_ids}
    for chapter in chapters:
        yield f"- [{chapter.full_title}]({chapter.file_name})"
    yield "\n## Items\n"
    yield "| item | what | shown by |"
    yield "|---|---|---|"
    for row in rows:
        shown = "left out" if row.left_out is not None else f"`{row.command}`"
        # Links to the item from outside lead to this page.
        anchor = f'<a id="{row.id}"></a>'
        place = f"{anchor}[{row.place}]({file_of_item[row.id]}#{row.id})"
        yield f"| {place} | {row.kind} | {shown.replace('|', chr(92) + '|')} |"
    yield "\n## Where our results contradict the paper\n"
    for row in rows:
        if row.contradicts is not None:
            yield f"- [{row.id}]({file_of_item[row.id]}#{row.id}), {row.place}"


def _chapter(chapter: Chapter, rows: Sequence[Row]) -> Iterator[str]:
    yield HEAD_OF_CHAPTER.format(title=chapter.full_title, about=chapter.about, paper=chapter.paper)
    row_of_item = {row.id: row for row in rows}
    for name in chapter.item_ids:
        yield _section(row_of_item[name])


def _section(row: Row) -> str:
    lines = [f"## {row.id}\n", f"{PAPERS[row.paper]}, {row.place} ({row.kind}).\n"]
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
    yield from table_of(result.figures)
    yield ""
    yield (
        f"Commit {result.commit}, {result.date}, {result.machine}, {_duration(result.duration_s)}."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
