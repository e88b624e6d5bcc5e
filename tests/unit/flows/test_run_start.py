# SPDX-License-Identifier: Apache-2.0
"""start(): the program's exit code comes back, whatever becomes of the record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from narrators import Told

import fairlead as fl
from fairlead.act.launch import LaunchSpec
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs import Prepared
from fairlead.flows.request import Request
from fairlead.flows.run import start
from fairlead.measure.probe_program import ProbeProgram


class Direct(OpenMpi4):
    """Starts the program itself, once."""

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        del work_dir
        return list(spec.program)


def start_program(folder: Path, *program: str) -> tuple[int, list[str]]:
    told = Told()
    prepared = Prepared(
        ProbeProgram(Direct(Path("mpirun"), (4, 1, 4))),
        fl.Cluster(("a",), (2,)),
        fl.Network(["a"], [[0]], [[np.inf]]),
        fl.Traffic(bytes=np.eye(2), messages=np.eye(2)),
        RunDirectory(folder),
        0.0,
        0.0,
    )
    kept = Decision(None, Gain(0.0, 0.0, 0.0), network_s=0.0)
    _seconds, code = start(prepared, Request(program, 2), kept, told)
    return code, told.lines


def test_exit_code_is_the_programs(tmp_path: Path) -> None:
    assert start_program(tmp_path / "run", "sh", "-c", "exit 7") == (7, [])


def test_exit_code_outlives_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, told = start_program(run, "sh", "-c", f"rm -r {run}; exit 7")
    assert code == 7
    assert len(told) == 1
    assert told[0].startswith(f"the end of this run is not recorded: {run}/run.json: cannot be")
