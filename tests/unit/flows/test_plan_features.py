# SPDX-License-Identifier: Apache-2.0
"""Features of the library are planned only where its ranks can agree on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import session_of

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.act.launch.srun import Srun
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import PlacingRequest, Request
from fairlead.flows.run.flow import FEATURES, plan_features

LIBRARY = Path("/usr/lib/libmpi.so")
MPIRUN = OpenMpi4(Path("mpirun"), (4, 1, 4))
SRUN_OPEN_MPI = Srun(
    Path("srun"), (22, 5), ProgramMpi("openmpi", (4, 1, 4), "openmpi-4", LIBRARY), "pmix"
)
SRUN_MPICH = Srun(
    Path("srun"), (22, 5), ProgramMpi("mpich", (4, 0, 2), "mpich-libmpich.so.12", LIBRARY), "pmi2"
)


@pytest.mark.parametrize(
    ("launcher", "confirms", "are_planned"),
    [
        (MPIRUN, False, True),
        (SRUN_MPICH, False, True),
        (SRUN_OPEN_MPI, False, False),
        (SRUN_OPEN_MPI, True, True),
    ],
)
def test_without_a_name_service_a_program_is_only_placed(
    launcher: Launcher,
    confirms: bool,
    are_planned: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("FAIRLEAD_EVERY_RANK", raising=False)
    if confirms:
        monkeypatch.setenv("FAIRLEAD_EVERY_RANK", "1")
    narrator = RecordingNarrator()
    program = TracedProgram(fl.Traffic(np.ones((2, 2)), np.ones((2, 2))))
    request = Request(
        ("./solver",), 2, fl.Cluster.uniform(["a", "b"], 1), placing=PlacingRequest(reorder=True)
    )
    session = session_of(
        tmp_path / "run", program, request=request, launcher=launcher, narrator=narrator
    )

    plans = plan_features(session, Decision(None, Gain(0.0, 0.0, 0.0), 1.0))

    assert [plan.feature for plan in plans] == [feature.name for feature in FEATURES]
    reorder = next(plan for plan in plans if plan.feature == "reorder")
    assert reorder.is_taken == are_planned
    lines = [line for line in narrator.lines if line.startswith("the program is only placed: ")]
    assert len(lines) == (not are_planned)
