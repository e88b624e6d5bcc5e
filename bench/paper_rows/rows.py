# SPDX-License-Identifier: Apache-2.0
"""What the papers show, a row an item, and the figures that rerunning an item gave."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairlead.errors import InputError
from fairlead.files.json_files import read_json
from fairlead.files.toml_files import read_toml

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
RESULTS = ROOT / "bench" / "results" / "papers"

PAPERS = {
    "cmpi": "CMPI",
    "cloudmap": "CloudMap",
    "spread": "SPREAD",
    "oracle": "ORACLE",
    "mcm": "MCM",
}
"""Prefix of an item's name, and what the project calls the paper, in the order of the page."""

Text = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Row(Strict):
    """One formula, algorithm, figure, table or headline number of a paper."""

    id: Annotated[str, Field(pattern=r"^(cmpi|cloudmap|spread|oracle|mcm)-[a-z0-9-]+$")]
    kind: Literal["formula", "algorithm", "figure", "table", "number"]
    place: Text
    shows: Text
    conditions: Text
    command: str
    here: str = ""
    differs: str = ""
    contradicts: str | None = None
    result: bool
    left_out: Text | None = None

    @model_validator(mode="after")
    def _is_done_or_left_out(self) -> Row:
        if self.left_out is not None and (self.command or self.result):
            raise ValueError(f"{self.id}: an item that is left out has no command and no result")
        if self.left_out is None and not (self.command and self.here and self.differs):
            raise ValueError(f"{self.id}: needs command, here and differs, or left_out")
        return self

    @property
    def paper(self) -> str:
        return self.id.split("-", maxsplit=1)[0]

    @property
    def result_file(self) -> Path:
        return RESULTS / f"{self.id}.json"


class Figure(Strict):
    """One number of an item: the paper's and ours, with a 95 % interval where runs differ."""

    name: Text
    unit: Text
    paper: float | str | None
    value: Annotated[float, Field(allow_inf_nan=False)]
    low: Annotated[float, Field(allow_inf_nan=False)] | None
    high: Annotated[float, Field(allow_inf_nan=False)] | None
    samples: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _has_both_ends(self) -> Figure:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.name}: an interval has two ends")
        return self


class Result(Strict):
    """What `bench/papers ITEM` keeps."""

    id: str
    command: str
    commit: str
    date: str
    machine: str
    duration_s: float
    figures: Annotated[list[Figure], Field(min_length=1)]


class _Table(Strict):
    row: list[Row]


def load_rows() -> list[Row]:
    """All rows, in the order of the papers, then of the files and in them.

    Raises:
        InputError: A file is wrong, or two rows have one name.
    """
    rows = [row for file in sorted(FOLDER.glob("*.toml")) for row in read_toml(file, _Table).row]
    twice = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
    if twice:
        raise InputError(f"{FOLDER}: rows of the same name: {', '.join(twice)}")
    return sorted(rows, key=lambda row: list(PAPERS).index(row.paper))


def load_result(row: Row) -> Result:
    """The kept figures of an item.

    Raises:
        InputError: There are none, or the file is wrong.
    """
    return read_json(row.result_file, Result)
