# SPDX-License-Identifier: Apache-2.0
"""SharedInput: each of several runs reads the whole input, none waits for more than it needs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.act.launch import SharedInput, run
from fairlead.act.linked_libraries import list_libraries
from fairlead.errors import InputError


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    out, into = os.pipe()
    yield out, into
    os.close(out)


def read_by(source: SharedInput, *program: str, last: bool = False) -> str:
    with source.open(last=last) as stdin:
        return run(program, capture=True, stdin=stdin).stdout


def test_each_run_reads_the_whole_input(tmp_path: Path) -> None:
    text = "".join(f"{number}\n" for number in range(50_000))
    (tmp_path / "input").write_text(text)
    with (tmp_path / "input").open() as stream:
        source = SharedInput(stream.fileno())

        assert [read_by(source, "cat") for _ in range(3)] == [text] * 3
        assert read_by(source, "cat", last=True) == text


def test_what_a_run_leaves_unread_is_there_for_the_next(pipe: tuple[int, int]) -> None:
    out, into = pipe
    text = "first\n" + "x" * 50_000 + "\n"
    os.write(into, text.encode())
    os.close(into)
    source = SharedInput(out)

    assert read_by(source, "head", "-n", "1") == "first\n"
    assert read_by(source, "true") == ""
    assert read_by(source, "cat") == text


def test_a_pipe_that_stays_open_delays_no_run(pipe: tuple[int, int]) -> None:
    out, into = pipe
    source = SharedInput(out)

    assert read_by(source, "true") == ""
    os.write(into, b"late\n")
    assert read_by(source, "head", "-n", "1") == "late\n"
    os.close(into)
    assert read_by(source, "cat") == "late\n"


def test_a_single_run_gets_the_source_itself(pipe: tuple[int, int]) -> None:
    out, into = pipe
    os.close(into)
    with SharedInput(out).open(last=True) as stdin:
        assert stdin == out


def test_no_room_for_what_has_to_be_kept_is_an_error(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, into = pipe
    os.write(into, b"text")
    os.close(into)
    gone = "/nonexistent/folder"
    monkeypatch.setattr(tempfile, "tempdir", gone)

    with pytest.raises(InputError, match=f"standard input: cannot be kept .* {gone}: No such"):
        read_by(SharedInput(out), "cat")


def test_looking_at_a_program_reads_none_of_its_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ldd = tmp_path / "ldd"
    ldd.write_text("#!/bin/sh\ncat\n")
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    kept = os.dup(0)
    out, into = os.pipe()
    try:
        os.dup2(out, 0)
        os.write(into, b"the program's")
        os.close(into)
        assert list_libraries("solver") == ""
        assert os.read(0, 100) == b"the program's"
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(out)
