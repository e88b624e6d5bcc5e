# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` places a grid that a program makes with MPI_Cart_create(reorder=1).

Two racks of two hosts; the hostfile alternates between them, so a chain of ranks in the launcher's
order crosses the slow uplinks with three of its links, where one is enough.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.lab import Lab
from fairlead.measure.trace_file import read_trace
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

STENCIL = ("--size", "24", "--steps", "10", "--dims", "8,1,1")


@pytest.fixture(scope="module")
def is_near(lab: Lab) -> np.ndarray:
    """Whether two hosts are in one rack, shape (H, H)."""
    rates_Bps = lab.shaped_Bps()
    return rates_Bps > rates_Bps.min()


@pytest.fixture(scope="module")
def inputs(
    lab: Lab, is_near: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, ...]:
    """Options: hosts in an order that alternates, the network as it is shaped, some traffic."""
    folder = tmp_path_factory.mktemp("inputs")
    first, second = np.flatnonzero(is_near[0]), np.flatnonzero(~is_near[0])
    order = np.stack([first, second], axis=1).ravel()
    hosts = [lab.hosts[host] for host in order]
    (folder / "hosts").write_text("".join(f"{host} slots=2\n" for host in hosts))
    latency_s = np.where(np.eye(4), 0.0, 5e-5)
    Network(lab.hosts, latency_s, lab.shaped_Bps()).save(folder / "shaped.net.npz")
    chain = sp.csr_array(np.eye(8, k=1) + np.eye(8, k=-1))
    Traffic(bytes=chain * 4608, messages=chain).save(folder / "chain.traffic.npz")
    return (
        "--hostfile", str(folder / "hosts"), "--network", str(folder / "shaped.net.npz"),
        "--traffic", str(folder / "chain.traffic.npz"),
    )  # fmt: skip


def far_bytes(
    lab: Lab, is_near: np.ndarray, inputs: tuple[str, ...], folder: Path, *options: str
) -> float:
    """Bytes that the stencil sent from rack to rack, by the trace of its run."""
    folder.mkdir()
    stencil = find(detect("mpirun.openmpi")).example("stencil")
    state = {name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    library = find(detect("mpirun.openmpi")).intercept
    # Also with --no-reorder, the library is there to trace.
    traced = f"-x FAIRLEAD_TRACE={folder / 'trace'}"
    if "--no-reorder" in options:
        traced += f" -x LD_PRELOAD={library}"
    done = lab.run(
        [sys.executable, "-m", "fairlead", "run", "-n", "8", *inputs, "--method", "launcher",
         "--run-dir", str(folder / "run"), "--launcher-args", traced, *options, "--",
         str(stencil), *STENCIL],
        env={**os.environ, **state, "FAIRLEAD_MPIRUN": "mpirun.openmpi"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert_passed(done)
    sent = read_trace(folder / "trace").bytes.toarray()
    hosts = (Path(inputs[1])).read_text().split()[::2]
    host_of_rank = np.repeat([lab.hosts.index(host) for host in hosts], 2)
    far = ~is_near[np.ix_(host_of_rank, host_of_rank)]
    return float(sent[far].sum())


def assert_passed(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "PASSED"
    assert "not reordered" not in done.stderr
    assert "switched off" not in done.stderr


def test_a_chain_crosses_between_the_racks_once_instead_of_three_times(
    lab: Lab, is_near: np.ndarray, inputs: tuple[str, ...], tmp_path: Path
) -> None:
    as_started = far_bytes(lab, is_near, inputs, tmp_path / "off", "--no-reorder")
    placed = far_bytes(lab, is_near, inputs, tmp_path / "on")

    assert placed > 0
    assert as_started == 3 * placed
    assert (tmp_path / "on" / "run" / "plan" / "reorder.json").exists()
    assert not (tmp_path / "off" / "run" / "plan").exists()
