# SPDX-License-Identifier: Apache-2.0
"""docs/reference/papers has each item of the five papers, with the figures that were kept."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.errors import InputError

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "bench" / "paper_rows"))

import chapters  # noqa: E402
from commands import clean_commit_of, commit_of  # noqa: E402
from figure_tables import table_of  # noqa: E402
from page import PAGE, pages_of  # noqa: E402
from rows import PAPERS, RESULTS, Figure, Row, load_result, load_rows  # noqa: E402

ROWS = load_rows()
each_row = pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])

COMPLETE = {
    "row": {
        "id": "mcm-figure-4",
        "kind": "figure",
        "place": "section 4",
        "shows": "latencies",
        "conditions": "16 hosts",
        "command": "bench/relay/pairs.py",
        "here": "16 hosts",
        "differs": "nothing",
        "result": True,
    }
}


def test_every_paper_has_rows() -> None:
    assert {row.paper for row in ROWS} == set(PAPERS)


def test_the_pages_are_what_rows_and_kept_figures_give() -> None:
    pages = pages_of(ROWS)
    assert {page: page.read_text() for page in pages} == pages, "run bench/papers --write"
    assert set(PAGE.with_suffix("").glob("*.md")) == set(pages) - {PAGE}


def test_an_item_on_no_page_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = chapters.FILE.read_text().replace('"daemon", ', "")
    (tmp_path / "chapters.toml").write_text(text)
    monkeypatch.setattr(chapters, "FILE", tmp_path / "chapters.toml")

    with pytest.raises(InputError, match="on one page, unlike mcm-daemon"):
        chapters.load_chapters(ROWS)


def test_many_figures_with_common_names_are_a_matrix() -> None:
    figures = [
        Figure(name=f"cloud {i}, {method}", unit="s", paper=2, value=i, low=0, high=9, samples=3)
        for i in range(12)
        for method in ("cyclic", "ours")
    ]

    lines = list(table_of(figures))

    assert lines[0] == "| figure | cyclic (s) | ours (s) | runs |"
    assert lines[3] == "| cloud 1 | 1 [0, 9]; paper: 2 | 1 [0, 9]; paper: 2 | 3 |"
    assert len(lines) == 2 + 12


def test_few_figures_have_a_row_each() -> None:
    figure = Figure(name="a", unit="s", paper=None, value=1.5, low=None, high=None, samples=3)

    assert list(table_of([figure]))[2:] == ["| a | s | - | 1.5 | 3 |"]


def figures_of(num_programs: int, num_rows: int) -> list[Figure]:
    return [
        Figure(
            name=f"p{program}, way {way}, {unit}", unit=unit, paper=None, value=way, low=None,
            high=None, samples=1,
        )
        for program in range(num_programs)
        for way in range(num_rows)
        for unit in ("s", "B")
    ]  # fmt: skip


def test_a_long_table_has_a_heading_for_each_first_part_of_its_names() -> None:
    lines = list(table_of(figures_of(4, 5)))

    assert [line for line in lines if line.startswith("#")] == [f"### p{i}" for i in range(4)]
    assert sum(line.startswith("| p1, way") for line in lines) == 5
    begin = lines.index("### p1")
    assert lines[begin - 1] == lines[begin + 1] == ""
    assert lines[begin + 2 : begin + 4] == lines[2:4]


def test_names_that_all_begin_alike_are_divided_where_they_differ() -> None:
    alike = [one.model_copy(update={"name": f"steps: {one.name}"}) for one in figures_of(4, 5)]

    heads = [line for line in table_of(alike) if line.startswith("#")]

    assert heads == [f"### steps: p{i}" for i in range(4)]


def test_a_table_whose_parts_would_be_short_is_one() -> None:
    assert not any(line.startswith("#") for line in table_of(figures_of(20, 1)))


@each_row
def test_kept_figures_come_from_the_command_of_the_row(row: Row) -> None:
    if row.result:
        result = load_result(row)
        assert (result.id, result.command) == (row.id, row.command)
    else:
        assert not row.result_file.exists()


def test_no_kept_file_is_without_a_row() -> None:
    assert {file.stem for file in RESULTS.glob("*.json")} == {row.id for row in ROWS if row.result}


@each_row
def test_what_a_row_runs_is_there(row: Row) -> None:
    first, *rest = shlex.split(row.command) or [""]
    if first == "pytest":
        files = [word for word in rest if word.startswith("tests/")]
        assert files
        assert [word for word in files if not is_test(word)] == []
    elif first == "ctest":
        flag, pattern = rest
        assert flag == "-R"
        assert any(re.search(pattern, name) for name in cpp_test_names())
    elif row.left_out is None:
        assert "--figures" in (ROOT / first).read_text() or not row.result


def is_test(word: str) -> bool:
    """Whether `file` or `file::name` names a test."""
    file, *names = word.split("::")
    return (ROOT / file).exists() and all(
        re.search(rf"\b(def|class) {name.split('[')[0]}\b", (ROOT / file).read_text())
        for name in names
    )


@functools.cache
def cpp_test_names() -> list[str]:
    sources = [file.read_text() for file in (ROOT / "tests").rglob("*.cpp")]
    return [name for text in sources for name in re.findall(r'TEST_CASE\w*\(\s*"([^"]+)"', text)]


def test_an_item_needs_a_command_or_a_reason_to_leave_it_out() -> None:
    with pytest.raises(ValueError, match="needs command, here and differs, or left_out"):
        Row.model_validate({**COMPLETE["row"], "command": ""})


def test_an_interval_has_two_ends() -> None:
    with pytest.raises(ValueError, match="an interval has two ends"):
        Figure(name="a", unit="s", paper=None, value=1.0, low=0.5, high=None, samples=3)


def test_an_unknown_item_is_refused() -> None:
    command = [sys.executable, ROOT / "bench" / "papers", "cmpi-figure-99"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert done.returncode == 1
    assert "no item cmpi-figure-99; bench/papers --list prints all" in done.stderr


def test_a_commit_is_marked_where_more_than_results_has_changed(tmp_path: Path) -> None:
    result, program = tmp_path / "bench" / "results" / "a.json", tmp_path / "program.py"
    result.parent.mkdir(parents=True)
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for file in (result, program):
        file.write_text("first")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    head = commit_of(tmp_path)

    result.write_text("second")

    assert re.fullmatch("[0-9a-f]{8,}", head)
    assert commit_of(tmp_path) == clean_commit_of(tmp_path) == head
    program.write_text("second")
    assert commit_of(tmp_path) == f"{head}-dirty"
    with pytest.raises(InputError, match=f"files differ from commit {head}: commit them first"):
        clean_commit_of(tmp_path)
