# SPDX-License-Identifier: Apache-2.0
"""The pages of a paper: which of its items stand together, under which title."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field
from rows import PAPERS, Row, Strict, Text

from fairlead.errors import InputError
from fairlead.files.toml_files import read_toml

FILE = Path(__file__).resolve().parent / "pages" / "chapters.toml"


class Chapter(Strict):
    """One page: its file's name after that of the paper, and its items in order."""

    paper: Text
    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    title: Text
    about: Text
    items: Annotated[list[str], Field(min_length=1)]

    @property
    def file_name(self) -> str:
        return f"{self.paper}-{self.name}.md"

    @property
    def full_title(self) -> str:
        return f"{PAPERS[self.paper]}: {self.title}"

    @property
    def item_ids(self) -> list[str]:
        return [f"{self.paper}-{item}" for item in self.items]


class _Table(Strict):
    chapter: list[Chapter]


def load_chapters(rows: Sequence[Row]) -> list[Chapter]:
    """All pages, in the order of the papers.

    Raises:
        InputError: The file is wrong, or a row is on no page or on two.
    """
    chapters = read_toml(FILE, _Table).chapter
    shown = sorted(name for chapter in chapters for name in chapter.item_ids)
    if shown != (all_ids := sorted(row.id for row in rows)):
        wrong = {name for name in (*shown, *all_ids) if shown.count(name) != all_ids.count(name)}
        raise InputError(f"{FILE}: each item stands on one page, unlike {', '.join(sorted(wrong))}")
    return sorted(chapters, key=lambda chapter: list(PAPERS).index(chapter.paper))
