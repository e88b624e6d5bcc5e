# SPDX-License-Identifier: Apache-2.0
"""docs/reference/results.md and its subjects are what `bench/record` has kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest
from rich.table import Table
from rich.text import Text

from fairlead.errors import InputError

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "bench" / name) for name in ("result_rows", "paper_rows", "")]

import recording  # noqa: E402
import result_rows  # noqa: E402
from kept_tables import write_tables  # noqa: E402
from recording import run_item  # noqa: E402
from result_pages import PAGE, divide_tables, pages_of  # noqa: E402
from result_rows import Item, KeptTable, load_headlines, load_kept, load_subjects  # noqa: E402

SUBJECTS = load_subjects()
ITEMS = {f"{name}/{item.id}": item for name, each in SUBJECTS.items() for item in each.item}

WORDS_PER_HEADING = 150
"""A page has a heading for as many words on average, with those of its tables."""

ITEM = Item(id="order", title="An order", command="bench/order/none.py", about="Nothing.")


def test_the_pages_are_what_rows_and_kept_tables_give() -> None:
    pages = pages_of(SUBJECTS, load_headlines())

    assert {page: page.read_text() for page in pages} == pages, "run bench/record --write"
    assert set(PAGE.with_suffix("").glob("*.md")) == set(pages) - {PAGE}


def test_pages_of_results_have_a_heading_for_few_words_with_those_of_tables() -> None:
    words = {
        page.name: mean(words_by_heading(text))
        for page, text in pages_of(SUBJECTS, load_headlines()).items()
        if page != PAGE
    }
    assert {name: number for name, number in words.items() if number > WORDS_PER_HEADING} == {}


def words_by_heading(text: str) -> list[int]:
    """Words under each heading, also those in cells of tables."""
    sections = re.split(r"^#+ .*$", re.sub(r"^[| -]+$|\|", " ", text, flags=re.M), flags=re.M)
    return [len(section.split()) for section in sections[1:]]


def test_rows_are_under_headings_by_their_first_words() -> None:
    rows = [["bcast 1 MiB", "1"], ["reduce, flat", "2"], ["bcast 4 MiB", "3"]]
    table = KeptTable(title="", columns=["call", "s"], rows=rows)
    item = ITEM.model_copy(update={"has_headings_of_rows": True})

    assert [(each.title, each.rows) for each in divide_tables("order/order", item, [table])] == [
        ("### bcast", [rows[0], rows[2]]),
        ("### reduce", [rows[1]]),
    ]


def test_each_table_has_its_heading() -> None:
    tables = [KeptTable(title=title, columns=["a"], rows=[["1"]]) for title in ("", "4 MiB")]
    item = ITEM.model_copy(update={"table_headings": ["Times", "Ratios"]})

    divided = list(divide_tables("order/order", item, tables))

    assert [each.title for each in divided] == ["### Times", "### Ratios"]
    with pytest.raises(InputError, match="order/order: 2 headings for 1 tables"):
        list(divide_tables("order/order", item, tables[:1]))


def test_kept_tables_come_from_the_command_of_the_item() -> None:
    kept = {name: load_kept(name) for name in ITEMS}

    assert {name: (each.id, each.command) for name, each in kept.items()} == {
        name: (name, item.command) for name, item in ITEMS.items()
    }


def test_no_kept_file_is_without_an_item() -> None:
    files = {
        str(file.relative_to(result_rows.RESULTS).with_suffix(""))
        for name in SUBJECTS
        for file in (result_rows.RESULTS / name).glob("*.json")
    }
    assert files == set(ITEMS)


def test_a_headline_of_a_cell_that_is_not_there_is_refused() -> None:
    kept = KeptTable(title="", columns=["cloud", "ratio"], rows=[["flat", "1.0"]])

    assert kept.cell("flat", "ratio") == "1.0"
    with pytest.raises(InputError, match="no cell at row 'flat' and column 'saves'"):
        kept.cell("flat", "saves")


def test_written_tables_have_the_cells_without_colours(tmp_path: Path) -> None:
    shown = Table("cloud", "ratio", title="All [b]clouds[/b]")
    shown.add_row(Text("flat", style="red"), "[bold]1.0[/bold]")

    write_tables(tmp_path / "tables.json", shown)

    assert json.loads((tmp_path / "tables.json").read_text()) == [
        {"title": "All clouds", "columns": ["cloud", "ratio"], "rows": [["flat", "1.0"]]}
    ]


@pytest.mark.parametrize(
    ("program", "tables", "printed"),
    [
        ("print('1.0 [0.9, 1.1]')", [], "1.0 [0.9, 1.1]\n"),
        (
            "import json, sys  # add_tables_option(\n"
            "table = {'title': '', 'columns': ['a'], 'rows': [['1']]}\n"
            "open(sys.argv[2], 'w').write(json.dumps([table]))",
            [KeptTable(title="", columns=["a"], rows=[["1"]])],
            "",
        ),
    ],
    ids=["lines", "tables"],
)
def test_a_run_replaces_the_kept_figures(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    tables: list[KeptTable],
    printed: str,
) -> None:
    monkeypatch.setattr(result_rows, "RESULTS", tmp_path)
    monkeypatch.setattr(recording, "clean_commit_of", lambda _: "01234567")
    (tmp_path / "bench.py").write_text(program)
    item = ITEM.model_copy(update={"command": str(tmp_path / "bench.py")})

    assert run_item("order/order", item) == 0

    kept = load_kept("order/order")
    assert (kept.command, kept.tables, kept.printed) == (item.command, tables, printed)
    assert kept.commit == "01234567"


def test_files_that_differ_from_the_commit_are_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> str:
        raise InputError("files differ from commit 01234567")

    monkeypatch.setattr(recording, "clean_commit_of", refuse)
    (tmp_path / "bench.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")

    with pytest.raises(InputError, match="files differ"):
        run_item("order/order", ITEM.model_copy(update={"command": str(tmp_path / "bench.py")}))

    assert not (tmp_path / "ran").exists()


def test_an_unknown_item_is_refused() -> None:
    command = [sys.executable, ROOT / "bench" / "record", "order/nothing"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert done.returncode == 1
    assert "no item order/nothing; bench/record --list prints all" in done.stderr
