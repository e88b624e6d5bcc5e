# SPDX-License-Identifier: Apache-2.0
"""What README and docs name is there: links, files, names of the package, options of commands."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pytest
from typer.testing import CliRunner

import fairlead as fl
from fairlead.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    + [*(ROOT / "docs").rglob("*.md")]
)
FOLDERS = (
    "bench|bindings|cmake|core|docs|examples|lab|mpi|packaging|relay|scripts|src|tcp_probe|tests"
)

MOST_WORDS = 1600
"""Pages have about 1,500 words; one that has more is split by subject."""

WORDS_PER_HEADING = 150
"""A page has a heading for as many words on average, without its tables and code."""

WORDS_UNDER_A_HEADING = 300
"""A section that has more words is divided by headings of its own."""

RECORDED_PAGES = "reference/papers/"
"""Below docs/; bench/papers writes them, with their own headings."""

INDICES = r"docs/(contents|design/README|reference/(results|papers(/[a-z]+)?))\.md"
"""Pages that list others in their order."""

OPTION = r"(?<![\w-])--[a-z][a-z-]+"


each_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)


@each_page
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_each_page_is_reached_from_the_contents() -> None:
    docs = ROOT / "docs"
    reached, further = set[Path](), {docs / "contents.md"}
    while further:
        page = further.pop()
        reached.add(page)
        if re.fullmatch(INDICES, str(page.relative_to(ROOT))):
            links = re.findall(r"\]\(([\w./-]+\.md)", page.read_text())
            further |= {(page.parent / link).resolve() for link in links} - reached

    assert set(docs.rglob("*.md")) - reached == set()


@each_page
def test_named_files_and_folders_exist(page: Path) -> None:
    paths = set(re.findall(rf"`((?:{FOLDERS})/[\w./-]+)[` ]", page.read_text()))
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_files_of_the_walks_hold_what_is_named() -> None:
    walks = (ROOT / "docs" / "design" / "walks.md").read_text()
    steps = re.findall(r"^\d+\. `([^`]+)` \(`([^`]+)`\): ", walks, re.M)

    assert len(steps) == len(re.findall(r"^\d+\.", walks, re.M))
    assert [step for step in steps if step[1] not in (ROOT / step[0]).read_text()] == []


@each_page
def test_named_parts_of_the_package_exist(page: Path) -> None:
    for name in re.findall(r"\bfl\.((?:\w+\.)*\w+)", page.read_text()):
        assert operator.attrgetter(name)(fl) is not None, name


@each_page
def test_commands_are_there_with_the_options_that_are_shown(page: Path) -> None:
    for command, given in shown_commands(page.read_text()):
        assert [option for option in given if option not in options(command)] == [], command


@each_page
def test_benchmarks_have_the_options_that_they_are_shown_with(page: Path) -> None:
    for script, rest in re.findall(r"`(bench/[\w/]+\.py)([^`]*)`", page.read_text()):
        source = (ROOT / script).read_text()
        assert [one for one in re.findall(OPTION, rest) if f'"{one}"' not in source] == [], script


def test_pages_are_short() -> None:
    words = {
        str(page.relative_to(ROOT / "docs")): len(page.read_text().split())
        for page in (ROOT / "docs").rglob("*.md")
    }
    assert {name: number for name, number in words.items() if number > MOST_WORDS} == {}


def test_pages_have_a_heading_for_few_words() -> None:
    words = words_by_page()
    dense = {page: mean(by_heading) for page, by_heading in words.items()}
    assert {page: number for page, number in dense.items() if number > WORDS_PER_HEADING} == {}


def test_sections_are_short() -> None:
    longest = {page: max(by_heading) for page, by_heading in words_by_page().items()}
    long_ones = {page: number for page, number in longest.items() if number > WORDS_UNDER_A_HEADING}
    assert long_ones == {}


def words_by_page() -> dict[str, list[int]]:
    """Numbers of words under each heading of the pages that people write, by file below docs/."""
    names = {str(page.relative_to(ROOT / "docs")): page for page in (ROOT / "docs").rglob("*.md")}
    return {
        name: words_by_heading(page.read_text())
        for name, page in names.items()
        if not name.startswith(RECORDED_PAGES)
    }


def words_by_heading(text: str) -> list[int]:
    """Words of prose under each heading, in order, the heading's own not counted."""
    prose = re.sub(r"^```.*?^```$|^    .*?$|^\|.*?$", "", text, flags=re.M | re.S)
    sections = re.split(r"^#+ .*$", prose, flags=re.M)[1:]
    return [len(section.split()) for section in sections]


def shown_commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Names and options of our commands in code, also of one that another starts."""
    for part in re.split(r"\n|`| -- |&& |\$ ", text):
        found = re.match(r"\s*fairlead ([a-z]+)(?: ([a-z]+))?(.*)", part)
        if found is not None:
            first, second, rest = found.groups()
            nested = f"{first} {second}"
            is_nested = help_of(nested).startswith(f"Usage: fairlead {nested} ")
            yield nested if is_nested else first, re.findall(OPTION, rest)


def options(command: str) -> set[str]:
    """The options of a command, by its help."""
    assert help_of(command), f"there is no fairlead {command}"
    return set(re.findall(OPTION, help_of(command)))


@functools.cache
def help_of(command: str) -> str:
    """What --help says; nothing where there is no such command."""
    said = CliRunner().invoke(app, [*command.split(), "--help"])
    return "" if said.exit_code else said.stdout
