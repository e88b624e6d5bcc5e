# SPDX-License-Identifier: Apache-2.0
"""Arguments and names of files that are not UTF-8 can be written, and what was written be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pydantic

from fairlead.files.run_directory import RECORD, RunDirectory
from fairlead.files.system_text import SystemText, dump_json, in_utf8

LATIN_1 = os.fsdecode("größe.dat".encode("latin-1"))


class Noted(pydantic.BaseModel):
    name: SystemText


def test_other_bytes_are_shown_as_errors_show_them() -> None:
    assert in_utf8(LATIN_1) == r"gr\udcf6\udcdfe.dat"
    assert in_utf8("größe 😀") == "größe 😀"


def test_a_field_with_other_bytes_is_read_as_it_was_written() -> None:
    noted = Noted(name=LATIN_1)
    assert Noted.model_validate_json(noted.model_dump_json()) == noted


def test_json_with_other_bytes_is_read_by_all_readers() -> None:
    value = {"names": [LATIN_1, r"a\udcf6", "😀"], "path": Path(LATIN_1)}
    shown = in_utf8(LATIN_1)
    expected = {"names": [shown, r"a\udcf6", "😀"], "path": shown}
    text = dump_json(value)
    assert json.loads(text) == expected
    assert pydantic.TypeAdapter(dict[str, object]).validate_json(text) == expected


def test_the_record_of_a_run_with_such_an_argument_is_whole(tmp_path: Path) -> None:
    RunDirectory(tmp_path / "run").record("request", {"program": ("./solver", LATIN_1)})
    record = pydantic.TypeAdapter(dict[str, object]).validate_json(
        (tmp_path / "run" / RECORD).read_bytes()
    )
    assert record["steps"][0]["program"] == ["./solver", in_utf8(LATIN_1)]  # type: ignore[index]
