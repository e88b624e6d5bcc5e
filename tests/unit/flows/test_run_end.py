# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` after the end of the program: its exit code stands, whatever goes wrong then."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import OPEN_MPI, even_network, session_of

import fairlead as fl
from fairlead.act.launch import Finished
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import Request
from fairlead.flows.run import flow
from fairlead.flows.run.flow import Launched
from fairlead.measure.probe_program import ProbeProgram
from fairlead.watch.past_runs import load_steps


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, finished: Finished
) -> tuple[int, list[str], RunLog]:
    """A run on the launcher's placement whose program has ended so."""
    narrator = RecordingNarrator()
    request = Request(("./solver",), 2, fl.Cluster(("a", "b"), (1, 1)))
    traffic = fl.Traffic(np.eye(2), np.eye(2))
    session = session_of(
        folder, TracedProgram(traffic), network=even_network(2), request=request, narrator=narrator
    )
    decision = Decision(None, Gain(0.0, 0.0, 0.0), network_s=0.0)
    monkeypatch.setattr(flow, "probe_program_for", lambda _request: ProbeProgram(OPEN_MPI))
    monkeypatch.setattr(flow, "prepare", lambda *_all, **_more: session)
    monkeypatch.setattr(flow, "decide", lambda _session: decision)
    monkeypatch.setattr(flow, "plan_features", lambda *_all: [])
    monkeypatch.setattr(flow, "launch_program", lambda *_all: Launched(finished, ()))
    code = flow.run(request, narrator, lambda _announcement: None)
    return code, narrator.lines, session.log


def test_the_time_of_a_run_that_ended_well_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, lines, log = run(tmp_path / "run", monkeypatch, Finished(0, 2.0))

    assert (code, [one.seconds for one in log.kept.runs]) == (0, [2.0])
    assert lines[-1].startswith("took 2 s")


@pytest.mark.parametrize("finished", [Finished(3, 2.0), Finished(0, 2.0, signal=15)])
def test_the_time_of_a_run_that_failed_or_was_ended_is_not_kept(
    finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, log = run(tmp_path / "run", monkeypatch, finished)

    assert (code, log.kept.runs) == (finished.returncode, ())


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), "No such file"),
        (fl.InputError("history.json: cannot be written"), "history.json: cannot be written"),
        (KeyboardInterrupt(), "SIGINT"),
        (SystemExit(143), "SIGTERM"),
    ],
)
def test_what_goes_wrong_after_the_program_costs_one_line(
    problem: BaseException, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_log: RunLog) -> None:
        raise problem

    monkeypatch.setattr(RunLog, "follow_traffic", fail)
    code, lines, _ = run(tmp_path / "run", monkeypatch, Finished(0, 2.0))

    assert code == 0
    assert lines[-1].startswith("the program has ended; what its run has shown is not kept: ")
    assert why in lines[-1]
    assert load_steps(tmp_path / "run")["end"]["exit_code"] == 0
