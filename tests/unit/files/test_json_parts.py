# SPDX-License-Identifier: Apache-2.0
"""JSON read part by part is the same as read at once, and what is wrong is named by its line."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import InputError
from fairlead.files import json_parts
from fairlead.files.json_parts import parts_of, read_parts

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
documents = st.lists(values, max_size=5) | st.dictionaries(st.text(), values, max_size=5)


@given(document=documents, indent=st.sampled_from([None, 1]), piece=st.integers(1, 9))
def test_parts_of_a_file_are_those_of_the_document(
    document: Any, indent: int | None, piece: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.json"
    path.write_text(json.dumps(document, indent=indent), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        # Pieces that end anywhere, also inside of a number or an escape.
        patch.setattr(json_parts, "_PIECE_LETTERS", piece)
        assert list(read_parts(path)) == list(parts_of(document))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ":1: is not JSON, or not all of it: expected an object or a list"),
        ("7", ":1: is not JSON, or not all of it: expected an object or a list"),
        ('{"a": 1', ":1: is not JSON, or not all of it: expected ','"),
        ('{"a"', ":1: is not JSON, or not all of it: expected ':'"),
        ('{"a": 1,}', ":1: is not JSON, or not all of it: expected a part after the comma"),
        ("[1,\n2,\n]", ":3: is not JSON, or not all of it: expected a part after the comma"),
        ("[1 2]", ":1: is not JSON, or not all of it: expected ','"),
        ("[1]\n[2]", ":2: is not JSON, or not all of it: expected the end of the document"),
        ('{"a": [1,\n +1]}', ":2: is not JSON, or not all of it: Expecting value"),
        ("{1: 2}", ":1: is not JSON, or not all of it: expected the name of a member"),
        ('{"a": "b', ":1: is not JSON, or not all of it: Unterminated string starting at"),
        ("[" * 100_000, ":1: is not JSON, or not all of it: is nested too deeply"),
    ],
)
def test_what_is_no_json_is_one_line_with_its_place(
    text: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)

    with pytest.raises(InputError) as caught:
        list(read_parts(path))

    assert str(caught.value) == f"{path}{problem}"


def test_text_that_is_not_utf8_and_a_missing_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(InputError, match=r"a\.json: no such file"):
        list(read_parts(path))
    path.write_bytes(b'["\xff"]')
    with pytest.raises(InputError, match=r"a\.json: cannot be read: 'utf-8' codec can't decode"):
        list(read_parts(path))


def test_no_more_than_a_part_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    element = json.dumps({"name": "x" * 1000})
    path.write_text('{"items": [' + ",".join([element] * 16_000) + "]}")
    tracemalloc.start()

    count = sum(1 for _ in read_parts(path))

    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 16_000
    assert most_bytes < 8 * 2**20 < path.stat().st_size


def test_a_part_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_parts, "MOST_PART_LETTERS", 1000)
    monkeypatch.setattr(json_parts, "_PIECE_LETTERS", 100)
    path = tmp_path / "a.json"
    path.write_text('{"a": "' + "x" * 100_000 + '"}')

    with pytest.raises(InputError, match=r"a\.json:1: .*in a part of more than 1000 letters"):
        list(read_parts(path))
