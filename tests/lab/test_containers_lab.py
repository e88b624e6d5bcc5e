# SPDX-License-Identifier: Apache-2.0
"""A program in a container on the emulated cloud: its first run is traced, its second is placed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from images import by_charliecloud, make_image
from pairs_program import compile_pairs, host_of_rank

from fairlead.lab import Lab
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]


def test_the_second_run_of_a_program_in_a_container_is_placed(lab: Lab, tmp_path: Path) -> None:
    program = Path(compile_pairs("mpicc.openmpi", tmp_path))
    inside = by_charliecloud(make_image(tmp_path, program), f"/opt/{program.name}")
    shaped = tmp_path / "shaped.net.npz"
    latency_s = [[0.0 if src == dst else 5e-5 for dst in range(4)] for src in range(4)]
    Network(lab.hosts, latency_s, lab.shaped_Bps()).save(shaped)  # type: ignore[arg-type]
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    env = {**os.environ, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi", "USER": "root"}
    command = [
        *(sys.executable, "-m", "fairlead", "run", "-n", "8", "--hostfile", str(lab.hostfile)),
        *("--network", str(shaped), "--", *inside),
    ]

    first, second = (
        lab.run(command, env=env, cwd=tmp_path, capture_output=True, text=True) for _ in range(2)
    )

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert len(host_of_rank(first.stdout)) == 8
    assert "next run: placed by optimize: 100% [100%, 100%] less time" in first.stderr
    hosts = host_of_rank(second.stdout)
    assert all(hosts[rank] == hosts[rank + 4] for rank in range(4))
    assert "ld.so" not in first.stderr + second.stderr
