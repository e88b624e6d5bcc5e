# SPDX-License-Identifier: Apache-2.0
"""A series of runs: what ends it early, and what is kept then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from instances import groups_traffic, racks

import fairlead as fl
from fairlead import compare as comparing
from fairlead.comparison import Comparison
from fairlead.launch import Finished
from fairlead.narrator import Narrator
from fairlead.preparation import Prepared, Request
from fairlead.run_directory import RunDirectory

NETWORK = racks([0, 1])
LAUNCHER: Any = SimpleNamespace(
    family="openmpi", version=(4, 1, 4), command=lambda _job, folder: [folder.name]
)


Announced = list[tuple[Comparison, Path]]


class Told(Narrator):
    """Keeps what the user is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """Two hosts and four ranks, all measured already."""
    found = Prepared(
        LAUNCHER,
        fl.Cluster.uniform(NETWORK.hosts, 2),
        NETWORK,
        groups_traffic([0, 1, 0, 1]),
        RunDirectory(tmp_path / "record"),
        probe_s=1.0,
        trace_s=2.0,
    )
    monkeypatch.setattr(comparing, "prepare", lambda _request, _narrator: found)
    return found


def runs(monkeypatch: pytest.MonkeyPatch, run: Callable[[str], Finished]) -> None:
    """Let `run` stand for starting a launcher; it gets the method's name."""
    monkeypatch.setattr(
        comparing.launch, "run", lambda command, **_options: run(Path(command[0]).name)
    )


def compare(
    announced: Announced, narrator: Narrator | None = None, time_pattern: str | None = None
) -> None:
    """Five runs by the launcher and by Scotch."""
    comparing.compare(
        Request(("./solver",), 4),
        ["scotch"],
        5,
        narrator or Narrator(),
        lambda comparison, folder: announced.append((comparison, folder)),
        time_pattern=time_pattern,
    )


def interrupted_in_run(number: int, error: type[BaseException]) -> Callable[[str], Finished]:
    done = iter(range(1, 1000))

    def run(_method: str) -> Finished:
        this = next(done)
        if this == number:
            raise error
        return Finished(0, float(this))

    return run


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupted_comparison_keeps_its_complete_rounds(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    runs(monkeypatch, interrupted_in_run(6, error))
    told, announced = Told(), Announced()
    with pytest.raises(error):
        compare(announced, told)
    [(comparison, folder)] = announced
    assert told.lines == ["interrupted after 2 of 5 rounds"]
    # The order rotates: launcher, scotch; scotch, launcher; and a launcher without its scotch.
    assert comparison.methods["launcher"].times_s == (1.0, 4.0)
    assert comparison.methods["scotch"].times_s == (2.0, 3.0)
    assert comparison.repeats == 5
    assert Comparison.load(folder / "comparison.json") == comparison


def test_comparison_interrupted_in_its_second_round_keeps_nothing(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(monkeypatch, interrupted_in_run(4, KeyboardInterrupt))
    announced = Announced()
    with pytest.raises(KeyboardInterrupt):
        compare(announced)
    assert not announced
    assert not prepared.directory.file("comparison.json").exists()


def test_whole_comparison_is_announced_once(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(monkeypatch, lambda _method: Finished(0, 2.0))
    announced = Announced()
    compare(announced)
    [(comparison, folder)] = announced
    assert folder == prepared.directory.path
    assert comparison.methods["scotch"].times_s == (2.0,) * 5
