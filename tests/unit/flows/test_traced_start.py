# SPDX-License-Identifier: Apache-2.0
"""What a traced run that did not end well leaves for the next one; runs that are ended early."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator
from share_samples import write_share

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.errors import TracedRunEndedError
from fairlead.files.run_directory import SHARES, TRAFFIC, RunDirectory
from fairlead.flows.inputs.prefix import Prefix
from fairlead.flows.inputs.tracing import TracedProgram, find_traffic
from fairlead.flows.request import Request
from fairlead.measure.left_shares import LeftShares
from fairlead.measure.profile_cache import input_files
from fairlead.measure.trace import TracedRun
from fairlead.model.cluster import Cluster
from fairlead.model.coverage import Coverage

PROGRAM = ("true",)
LAUNCHER = OpenMpi4(Path("mpirun"), (4, 1, 4))
CLUSTER = Cluster(("a",), (2,))


class Runs:
    """Runs of one program, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0

    def find(self, trace: Any = None, **options: Any) -> tuple[TracedProgram, list[str]]:
        narrator = RecordingNarrator()
        self.number += 1
        request = Request(PROGRAM, num_ranks=2, cluster=CLUSTER, **options)
        directory = RunDirectory(self.directory(), narrator.report)
        return find_traffic(
            request, LAUNCHER, CLUSTER, directory, narrator, trace=trace
        ), narrator.lines

    def directory(self) -> Path:
        """Folder of the latest run."""
        return self.folder / f"run-{self.number}"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Runs(tmp_path)


def partial(covers_s: float, missing: tuple[int, ...] = ()) -> fl.Traffic:
    coverage = Coverage(2, missing, covers_s, covers_s)
    sent = np.array([[0.0, 8.0], [8.0, 0.0]])
    return fl.Traffic(sent, sent, origin={"how": "traced", "partial": coverage.facts()})


def ending(error: fl.TraceError, traffic: fl.Traffic | None, signal: int | None = None) -> Any:
    """A traced run that ends so."""

    def trace(*_arguments: Any, **_options: Any) -> Any:
        error.seconds, error.signal, error.traffic = 2.0, signal, traffic
        raise error

    return trace


def never(*_arguments: Any, **_options: Any) -> Any:
    raise AssertionError("nothing is to be started")


def test_a_run_that_its_scheduler_ends_has_its_traffic_for_the_next_one(runs: Runs) -> None:
    error = TracedRunEndedError("ended with exit code 143 after SIGTERM", 143)

    with pytest.raises(SystemExit) as ended:
        runs.find(ending(error, partial(30.0), signal=15), first="auto")
    program, lines = runs.find(never, first="auto")

    assert ended.value.code == 143
    assert program.traffic.bytes.sum() == 16
    assert lines == [
        "traffic: using the trace of an earlier run with as many ranks; partial: covers the "
        "first 30 s of the run, of all 2 ranks"
    ]


@pytest.mark.parametrize("signal", [None, 15])
@pytest.mark.parametrize(
    ("covers_s", "missing", "is_kept"),
    [(3.0, (), False), (30.0, (), True), (30.0, (1,), False)],
)
def test_a_run_that_is_ended_is_used_only_if_all_its_ranks_were_at_work(
    runs: Runs, signal: int | None, covers_s: float, missing: tuple[int, ...], is_kept: bool
) -> None:
    error = fl.TraceError("true: failed in the traced run with exit code 7", 7)
    if signal is not None:
        error = TracedRunEndedError("ended with exit code 143 after SIGTERM", 143)

    with pytest.raises((fl.TraceError, SystemExit)):
        runs.find(ending(error, partial(covers_s, missing), signal), first="auto")
    assert fl.Traffic.load(runs.directory() / TRAFFIC).bytes.sum() == 16
    program, _ = runs.find(lambda *_, **__: TracedRun(partial(99.0), 2.0), first="auto")

    assert program.is_users_run == (not is_kept)


def test_a_partial_trace_does_not_replace_a_whole_one(runs: Runs) -> None:
    whole = fl.Traffic(np.array([[0.0, 4.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]]))
    runs.find(lambda *_, **__: TracedRun(whole, 2.0), first="auto")
    error = TracedRunEndedError("ended with exit code 143 after SIGTERM", 143)

    with pytest.raises(SystemExit):
        runs.find(ending(error, partial(30.0), signal=15), first="auto", traffic=Path("trace:"))
    program, _ = runs.find(never, first="auto")

    assert program.traffic.bytes.sum() == 4


def test_a_run_that_leaves_nothing_says_so(runs: Runs) -> None:
    error = TracedRunEndedError("ended with exit code 0 after SIGTERM", 0)
    narrator = RecordingNarrator()
    request = Request(PROGRAM, num_ranks=2, cluster=CLUSTER, first="auto")
    directory = RunDirectory(runs.folder / "run", narrator.report)

    with pytest.raises(SystemExit):
        find_traffic(
            request, LAUNCHER, CLUSTER, directory, narrator, trace=ending(error, None, signal=15)
        )

    assert narrator.lines[-1].endswith("after SIGTERM; its traffic is not kept")


def test_shares_of_a_run_that_was_killed_are_found_by_the_next(runs: Runs) -> None:
    shares = runs.folder / "killed" / SHARES
    LeftShares(PROGRAM, 2, LAUNCHER).write(shares, {})
    shares.mkdir(parents=True)
    for rank in range(2):
        write_share(shares, rank, 2, {1 - rank: 100})

    program, lines = runs.find(never, first="auto")

    assert program.traffic.bytes.sum() == 200
    assert "partial: covers the first 20 s of the run, of all 2 ranks" in lines[0]


def test_shares_are_found_in_folders_and_of_inputs_that_are_not_utf_8(runs: Runs) -> None:
    shares = runs.folder / os.fsdecode(b"killed-\xff") / SHARES
    left_input = runs.folder / os.fsdecode(b"input-\xfe")
    left_input.touch()
    LeftShares(PROGRAM, 2, LAUNCHER).write(shares, input_files(["true", str(left_input)]))
    shares.mkdir(parents=True)
    for rank in range(2):
        write_share(shares, rank, 2, {1 - rank: 100})

    program, _ = runs.find(never, first="auto")

    assert program.traffic.bytes.sum() == 200
    LeftShares(PROGRAM, 2, LAUNCHER).forget(shares)
    assert not [*(runs.folder / "cache").rglob("*.shares.json")]


def test_the_note_goes_with_the_run(runs: Runs) -> None:
    noted = []

    def trace(*_arguments: Any, shares: Path, **_options: Any) -> TracedRun:
        noted.extend((runs.folder / "cache").rglob("*.shares.json"))
        assert shares == runs.directory() / SHARES
        return TracedRun(partial(3.0), 2.0)

    runs.find(trace, first="auto")

    assert len(noted) == 1
    assert not noted[0].exists()


def test_a_run_that_is_ended_early_is_started_again(runs: Runs) -> None:
    def trace(*_arguments: Any, early_end: Prefix, stdout: int, **_options: Any) -> TracedRun:
        assert early_end.interval_s == 1
        os.write(stdout, b"half of it")
        return TracedRun(partial(3.0), 4.0, (), True)

    program, lines = runs.find(trace, first="prefix", trace_limit_s=9.0)

    assert not program.is_users_run
    assert lines[0].startswith("traffic: running true with tracing until its traffic is known, at ")
    assert lines[1] == (
        "traffic: true was ended after 4 s: the limit of 9 s is reached before the traffic is known"
    )


@pytest.mark.parametrize("fails", [False, True])
def test_one_that_ends_by_itself_is_the_run_with_its_output(
    runs: Runs, fails: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    def trace(*_arguments: Any, stdout: int, **_options: Any) -> TracedRun:
        os.write(stdout, b"the result\n")
        if fails:
            raise fl.TraceError("true: failed in the traced run with exit code 7", 7)
        return TracedRun(partial(3.0), 4.0)

    if fails:
        with pytest.raises(fl.TraceError):
            runs.find(trace, first="prefix")
    else:
        assert runs.find(trace, first="prefix")[0].is_users_run

    assert capfd.readouterr().out == "the result\n"
