# SPDX-License-Identifier: Apache-2.0
"""What is measured, an item a command, and what its latest run printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairlead.errors import InputError
from fairlead.files.json_files import read_json
from fairlead.files.toml_files import read_toml

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
RESULTS = ROOT / "bench" / "results"

MOST_HEADLINES = 20

Text = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Item(Strict):
    """One command, what it compares under which conditions, and what its figures show.

    Attributes:
        table_headings: A heading for each table; none where tables follow one another.
        has_headings_of_rows: Whether the rows of each table are under headings, by the first words
            of their first cells.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    title: Text
    command: Text
    about: Text
    shows: str = ""
    table_headings: list[Text] = []
    has_headings_of_rows: bool = False


class Subject(Strict):
    """A page of results."""

    title: Text
    about: Text
    item: Annotated[list[Item], Field(min_length=1)]


class Headline(Strict):
    """A row of the summary: the cell of a kept table at a row and a column."""

    what: Text
    against: Text
    item: Annotated[str, Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]
    table: int = 0
    row: Text
    column: Text
    unit: str = ""


class KeptTable(Strict):
    """A table as it was printed."""

    title: str
    columns: Annotated[list[str], Field(min_length=1)]
    rows: Annotated[list[list[str]], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_whole(self) -> KeptTable:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.title}: a row has not one cell for each column")
        return self

    def cell(self, row: str, column: str) -> str:
        """The cell of the row that begins with this, in this column.

        Raises:
            InputError: There is none.
        """
        if column in self.columns:
            for cells in self.rows:
                if cells[0] == row:
                    return cells[self.columns.index(column)]
        raise InputError(f"no cell at row {row!r} and column {column!r}")


class KeptResult(Strict):
    """What a run of an item printed: tables, or lines where its benchmark writes no tables."""

    id: str
    command: str
    commit: str
    date: str
    machine: str
    tables: list[KeptTable]
    printed: str

    @model_validator(mode="after")
    def _has_figures(self) -> KeptResult:
        if not self.tables and not self.printed:
            raise ValueError(f"{self.id}: nothing was printed")
        return self


class _Headlines(Strict):
    headline: Annotated[list[Headline], Field(min_length=1, max_length=MOST_HEADLINES)]


def load_subjects() -> dict[str, Subject]:
    """The subjects by the names of their pages, in the order of their files.

    Raises:
        InputError: A file is wrong.
    """
    files = sorted(FOLDER.glob("[0-9][0-9]_*.toml"))
    return {file.stem[3:].replace("_", "-"): read_toml(file, Subject) for file in files}


def load_headlines() -> list[Headline]:
    """The rows of the summary.

    Raises:
        InputError: The file is wrong.
    """
    return read_toml(FOLDER / "headlines.toml", _Headlines).headline


def result_file(name: str) -> Path:
    """Where the figures of an item are kept; its name is "subject/item"."""
    return RESULTS / f"{name}.json"


def load_kept(name: str) -> KeptResult:
    """The kept figures of an item.

    Raises:
        InputError: There are none, or the file is wrong.
    """
    return read_json(result_file(name), KeptResult)
