# SPDX-License-Identifier: Apache-2.0
"""What the traffic of an input that was never traced is taken for, and how far that is trusted."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.flows.inputs.guessing import GuessedTraffic, guess_traffic
from fairlead.flows.inputs.tracing import keep_traffic
from fairlead.flows.request import Request
from fairlead.measure import known_inputs
from fairlead.measure.known_inputs import earlier_inputs, inputs_folder
from fairlead.measure.profile_cache import input_files

LAUNCHER = OpenMpi4(Path("mpirun"), (4, 1, 4))


class Program:
    """A program, and what was seen of it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "solver"
        self.build("")
        self.lines: list[str] = []

    def build(self, text: str) -> None:
        self.path.write_text(f"#!/bin/sh\n{text}")
        self.path.chmod(0o755)

    def request(self, *arguments: str, num_ranks: int = 4) -> Request:
        return Request((str(self.path), *arguments), num_ranks, fl.Cluster(("a",), (8,)))

    def see(self, shift: int, *arguments: str, num_ranks: int = 4, calls: int = 10) -> None:
        """A run whose ranks send to those that are so far away, so often."""
        request = self.request(*arguments, num_ranks=num_ranks)
        inputs = input_files(request.program)
        keep_traffic(request, LAUNCHER, RecordingNarrator(), inputs, ring(num_ranks, shift, calls))

    def guess(self, *arguments: str, num_ranks: int = 4) -> GuessedTraffic | None:
        narrator = RecordingNarrator()
        found = guess_traffic(self.request(*arguments, num_ranks=num_ranks), LAUNCHER, narrator)
        self.lines = narrator.lines
        return found


def ring(num_ranks: int, shift: int, calls: int = 10) -> fl.Traffic:
    sent = np.roll(np.eye(num_ranks), shift, axis=1)
    return fl.Traffic(1e5 * calls * sent, calls * sent, 1e5 * sent)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Program(tmp_path)


def test_the_input_with_the_most_arguments_in_common_is_taken(program: Program) -> None:
    program.see(1, "-n", "100", "--fast")
    program.see(1, "-n", "200", calls=20)
    program.see(1, "-n", "900", "--fast", calls=30)

    found = program.guess("-n", "800", "--fast")

    assert found is not None
    assert found.source.arguments == ("-n", "900", "--fast")
    assert found.traffic.messages[0, 1] == 30


def test_nothing_is_guessed_without_another_input(program: Program) -> None:
    assert program.guess("1") is None
    assert program.lines == []


def test_how_far_a_guess_is_trusted_is_what_earlier_ones_were_worth(program: Program) -> None:
    def line(*arguments: str) -> str:
        found = program.guess(*arguments)
        assert found is not None
        return found.line

    program.see(1, "1")
    assert line("2").endswith("guessed from the run with 1: how well that fits is not known yet")
    program.see(1, "2")
    assert "the traffic of one input differed by 0.0% in the median" in line("3")


def test_inputs_that_differ_are_no_guide_to_another_one(program: Program) -> None:
    program.see(1, "1")
    program.see(2, "2")

    assert program.guess("3") is None
    assert program.lines == [
        "traffic: not guessed from an earlier run: so far the traffic of one input differed by "
        "100.0% in the median from such a guess, at most by 100.0%"
    ]


def test_a_program_that_was_built_anew_is_taken_for_the_one_before(program: Program) -> None:
    program.see(1, "1")
    program.build("exit 0\n")

    found = program.guess("1")

    assert found is not None
    assert "guessed from the run with an earlier build of the program" in found.line


def test_a_changed_input_file_is_another_input(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_text("small")
    program.see(1, str(file))
    file.write_text("larger")

    found = program.guess(str(file))

    assert found is not None
    assert "guessed from the run with other input files" in found.line


def test_a_regular_pattern_is_extended_to_another_number_of_ranks(program: Program) -> None:
    program.see(1, "1", num_ranks=6)

    found = program.guess("1", num_ranks=8)

    assert found is not None
    assert "the same arguments, extended from 6 to 8 ranks as a ring: " in found.line
    np.testing.assert_array_equal(found.traffic.bytes.toarray(), ring(8, 1).bytes.toarray())


def test_a_word_that_only_looks_like_a_number_is_compared(program: Program) -> None:
    program.see(1, "--id=3e8437")
    assert program.guess("--id=0") is not None


def test_an_irregular_one_is_traced_anew(program: Program) -> None:
    program.see(5, "1", num_ranks=12)

    assert program.guess("1", num_ranks=8) is None
    assert program.lines[0].startswith("traffic: known for 12 ranks, in a pattern that cannot be")


def test_another_script_of_an_interpreter_is_another_program(
    program: Program, tmp_path: Path
) -> None:
    def folder(*command: str) -> Path:
        return inputs_folder(command, LAUNCHER)

    assert folder("python3", "a.py", "1") == folder("python3", "a.py", "2")
    assert folder("python3", "a.py") != folder("python3", "b.py")
    assert folder("env", str(program.path)) != folder("env", "X=1", "true")
    assert folder("true", "a.py") == folder("true", "b.py")


def test_the_store_is_bounded_and_a_damaged_file_counts_as_missing(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_inputs, "MOST_INPUTS", 3)
    for number in range(5):
        program.see(1, str(number))
    folder = inputs_folder((str(program.path),), LAUNCHER)
    (folder / "0.json").write_text("{")
    (folder / "1.json").write_text('{"kind": "input", "version": 9}')

    found = earlier_inputs((str(program.path), "4"), LAUNCHER)

    assert [one.arguments for one in found] == [("4",), ("3",), ("2",)]
    assert len(list((tmp_path / "cache" / "fairlead" / "traffic").glob("*.npz"))) == 3


def test_a_cache_that_is_mounted_read_only_is_one_line(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.see(1, "a")

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    narrator = RecordingNarrator()
    keep_traffic(program.request("a"), LAUNCHER, narrator, {}, ring(4, 2))

    (line,) = narrator.lines
    assert "Read-only file system" in line


def test_a_full_disk_is_one_line(program: Program, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    narrator = RecordingNarrator()
    request: Any = program.request("1")
    for _ in range(2):
        keep_traffic(request, LAUNCHER, narrator, {}, ring(4, 1))
    assert len(narrator.lines) == 1
    assert "traffic: not cached for later runs: " in narrator.lines[0]
