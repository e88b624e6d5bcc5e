# SPDX-License-Identifier: Apache-2.0
"""docs/reference/results.md and a page for each subject, from the rows and the kept tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from result_rows import ROOT, Headline, Item, KeptResult, KeptTable, Subject, load_kept

from fairlead.errors import InputError

PAGE = ROOT / "docs" / "reference" / "results.md"

HEAD = """\
# What was measured

Figures in brackets are 95 % intervals. They were taken on one machine with two shared cores,
Debian 12; yours will differ, so run the commands. `bench/record ITEM` runs an item and keeps its
figures, `bench/record --write` writes these pages from them. The commit is the one that was run;
of figures older than this form it is the one that recorded them.

| what | against what | result | command | commit |
|---|---|---|---|---|
"""
SHORT = """
## What CI runs

Without options a benchmark does everything shown here. `--short` does a small part of it, which
shows that it works, not how fast things are. `make bench-short`, which CI runs, does this with
each benchmark but these: `bench/collectives/drift.py`, `bench/collectives/lab.py` and
`bench/oracle/torus.py`, which take half a minute to three minutes also then;
`bench/collectives/peers.py`, which takes hours without what it has recorded;
`bench/run/srun_signals.py`, which needs Slurm;
`bench/collectives/mpi4py_suite.py` and `bench/relay/mpi4py_suite.py`, which need the sources of
mpi4py; `bench/intercept/mpich_suite.py`, which needs those of MPICH; and
`bench/cloudmap/record.py`, which needs those of NPB.
"""
SUBJECTS = """
## By subject

The five papers are rerun [item by item](papers.md).
"""
HEAD_OF_SUBJECT = """\
# {title}

{about} [All results](../results.md).
"""


def pages_of(subjects: Mapping[str, Subject], headlines: Sequence[Headline]) -> dict[Path, str]:
    """The summary and a page for each subject, as Markdown."""
    links = [f"- [{subject.title}](results/{name}.md)" for name, subject in subjects.items()]
    summary = [HEAD + "\n".join(map(_headline, headlines)), SHORT, SUBJECTS, "\n".join(links)]
    pages = {PAGE: "\n".join(summary).rstrip() + "\n"}
    for name, subject in subjects.items():
        sections = [_section(f"{name}/{item.id}", item) for item in subject.item]
        head = HEAD_OF_SUBJECT.format(title=subject.title, about=subject.about)
        pages[PAGE.with_suffix("") / f"{name}.md"] = "\n".join([head, *sections]).rstrip() + "\n"
    return pages


def _headline(row: Headline) -> str:
    kept = load_kept(row.item)
    value = kept.tables[row.table].cell(row.row, row.column) + (f" {row.unit}" if row.unit else "")
    subject, _, item = row.item.partition("/")
    link = f"[{row.what}](results/{subject}.md#{item})"
    return f"| {link} | {row.against} | {value} | `{kept.command}` | {kept.commit} |"


def _section(name: str, item: Item) -> str:
    kept = load_kept(name)
    lines = [f"## {item.title}\n", f'<a id="{item.id}"></a>`{kept.command}`\n', f"{item.about}\n"]
    after = [*([f"{item.shows}\n"] if item.shows else []), _source(kept), ""]
    if item.table_headings or item.has_headings_of_rows:
        lines, after = [*lines, *after], []
    for table in divide_tables(name, item, kept.tables):
        lines += [*_table(table), ""]
    if kept.printed:
        lines += [*(f"    {line}".rstrip() for line in kept.printed.splitlines()), ""]
    return "\n".join([*lines, *after])


def divide_tables(name: str, item: Item, tables: Sequence[KeptTable]) -> Iterator[KeptTable]:
    """The tables of an item, with its headings as their titles.

    Raises:
        InputError: There are not as many headings as tables.
    """
    if item.table_headings and len(item.table_headings) != len(tables):
        raise InputError(f"{name}: {len(item.table_headings)} headings for {len(tables)} tables")
    for table, heading in zip_longest(tables, item.table_headings):
        if item.has_headings_of_rows:
            yield from _by_first_word(table)
        else:
            yield table.model_copy(update={"title": f"### {heading}"}) if heading else table


def _by_first_word(table: KeptTable) -> Iterator[KeptTable]:
    """A table for each first word of rows, in the order in which the words come first."""
    rows_of_word: dict[str, list[list[str]]] = {}
    for row in table.rows:
        rows_of_word.setdefault(re.split(r"[ ,]", row[0])[0], []).append(row)
    for word, rows in rows_of_word.items():
        yield table.model_copy(update={"title": f"### {word}", "rows": rows})


def _table(table: KeptTable) -> Iterator[str]:
    if table.title:
        yield f"{table.title}{'' if table.title.startswith('#') else ':'}\n"
    for cells in (table.columns, ["---"] * len(table.columns), *table.rows):
        yield f"| {' | '.join(cells)} |"


def _source(kept: KeptResult) -> str:
    when = f"Commit {kept.commit}, {kept.date}, {kept.machine}."
    return f"{when} `bench/record {kept.id}` runs it again."
