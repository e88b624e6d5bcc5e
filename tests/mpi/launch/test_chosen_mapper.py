# SPDX-License-Identifier: Apache-2.0
"""A placement is used where the user's settings choose another mapper of Open MPI."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest
from launchers import MPIS

from fairlead.act.launch import LaunchSpec, detect, run
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

pytestmark = pytest.mark.mpi

PREFIXES = {"openmpi-4": "OMPI_MCA_", "openmpi-5": "PRTE_MCA_"}


@pytest.mark.parametrize("by", ["variable", "file"])
@pytest.mark.parametrize("mpi", PREFIXES)
def test_a_placed_start_has_the_mapper_that_reads_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mpi: str, by: str
) -> None:
    if by == "variable":
        monkeypatch.setenv(f"{PREFIXES[mpi]}rmaps", "round_robin")
    else:
        folder = tmp_path / (".openmpi" if mpi == "openmpi-4" else ".prte")
        folder.mkdir()
        (folder / "mca-params.conf").write_text("rmaps = round_robin\n")
        monkeypatch.setenv("HOME", str(tmp_path))
    launcher = detect(MPIS[mpi].mpirun)
    cluster = Cluster.uniform([socket.gethostname()], slots=2)
    placement = Placement(cluster.hosts, np.array([0, 0]))
    spec = LaunchSpec(("/bin/sh", "-c", "echo rank; sleep 0.5"), 2, cluster, placement)

    finished = run(launcher.prepare_command(spec, tmp_path), capture=True, timeout_s=60)

    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.split() == ["rank", "rank"]
