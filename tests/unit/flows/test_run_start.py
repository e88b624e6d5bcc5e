# SPDX-License-Identifier: Apache-2.0
"""The program's exit code comes back, whatever becomes of the record."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import even_network, session_of

import fairlead as fl
from fairlead.act.launch import Finished, LaunchSpec
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import Request
from fairlead.flows.run import launcher_alone, placing
from fairlead.flows.run.features import FeaturePlan
from fairlead.flows.run.flow import Launched, launch_program, record_end
from fairlead.flows.run.launcher_alone import start_by_launcher_alone
from fairlead.narrator import Narrator
from fairlead.watch.dropped import Dropped
from fairlead.watch.history import History, RunTime, now
from fairlead.watch.past_runs import load_steps


class Direct(OpenMpi4):
    """Starts the program itself, once."""

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        del work_dir
        return list(spec.program)


def start_program(
    folder: Path, *program: str, plans: Sequence[FeaturePlan] = ()
) -> tuple[int, list[str]]:
    narrator = RecordingNarrator()
    request = Request(program, 2, fl.Cluster(("a",), (2,)))
    traffic = fl.Traffic(bytes=np.eye(2), messages=np.eye(2))
    session = session_of(
        folder,
        TracedProgram(traffic),
        network=even_network(1),
        request=request,
        launcher=Direct(Path("mpirun"), (4, 1, 4)),
        narrator=narrator,
    )
    launched = launch_program(session, plans)
    record_end(session, launched)
    return launched.finished.returncode, narrator.lines


def test_exit_code_is_the_programs(tmp_path: Path) -> None:
    assert start_program(tmp_path / "run", "sh", "-c", "exit 7") == (7, [])


def test_exit_code_outlives_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, lines = start_program(run, "sh", "-c", f"rm -r {run}; exit 7")
    assert code == 7
    assert len(lines) == 1
    assert lines[0].startswith(f"the record of this run is lost: {run}/run.json: cannot be")


class Gone(Narrator):
    """A terminal that has gone with the signal."""

    def report(self, line: str) -> None:
        raise SystemExit(1)


def test_the_end_is_recorded_also_where_nobody_reads_the_line_about_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Finished(143, 1.0, signal=15)
    session = session_of(tmp_path / "run", TracedProgram(fl.Traffic(np.eye(2), np.eye(2))))
    with pytest.raises(SystemExit):
        record_end(dataclasses.replace(session, narrator=Gone()), Launched(ended, ()))
    assert load_steps(tmp_path / "run")["end"]["signal"] == 15

    directory = RunDirectory(tmp_path / "alone")
    monkeypatch.setattr(launcher_alone.launch, "run", lambda *_all, **_more: ended)
    with pytest.raises(SystemExit):
        start_by_launcher_alone(
            Direct(Path("mpirun"), (4, 1, 4)), LaunchSpec(("true",), 1), directory, Gone()
        )
    assert load_steps(tmp_path / "alone")["end"]["signal"] == 15


def test_a_decision_against_what_has_proved_slower_holds_where_something_has() -> None:
    def history(*seconds_of_placed: float) -> History:
        runs = [*[(None, 10.0)] * 3, *((("b", "a"), seconds) for seconds in seconds_of_placed)]
        return History(
            program=("./solver",), num_ranks=2, hosts=("a", "b"),
            runs=tuple(
                RunTime(when=now(), folder="", method="optimize", host_of_rank=names, seconds=s)
                for names, s in runs
            ),
        )  # fmt: skip

    none = Gain(0.0, 0.0, 0.0)
    dropped = Decision(None, none, network_s=8.0, has_dropped=True)
    placed = Decision(fl.Placement(["a", "b"], [1, 0]), Gain(0.5, 0.4, 0.6), network_s=8.0)

    def still_holds(kept: Decision, history: History) -> bool:
        return placing.still_holds(kept, Dropped(history))

    assert still_holds(dropped, history(12.0, 12.0, 12.0))
    assert not still_holds(dropped, history())
    assert still_holds(placed, history(8.0))
    assert not still_holds(placed, history(12.0, 12.0, 12.0))
    assert still_holds(Decision(None, none, network_s=8.0), history())
