# SPDX-License-Identifier: Apache-2.0
"""Hooks of the documentation in a real Slurm: in a step, as TaskProlog, and as Prolog.

Odd and even hosts are behind switches of their own, and h4's interface is ten times as slow.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_traces import happens
from slurm_cluster import SlurmCluster, require_slurm, skip_or_fail, slurm_cluster

from fairlead.lab import Lab, Scenario

pytestmark = pytest.mark.lab

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "order.md"
RANKS = Path(__file__).with_name("torch_ranks.py")
# Debian's torch 1.13 fails with the defaults of these two under Python 3.11.
AS_PRINTED = "--redirects=1 --tee=1"
BAD = "h4"
CLOUD = Scenario.model_validate(
    {"name": "hooks", "hosts": 5, "slots": 2, "nic": [*["100Mbit/s"] * 4, "10Mbit/s"]}
)
FOUR = ("--nodelist=h0,h1,h2,h3", "--nodes=4", "--ntasks-per-node=1")


def script_of(title: str) -> str:
    """The script of the documentation with this comment in its first lines."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (script,) = (block for block in blocks if f"\n# {title}" in block)
    return str(script)


def install(folder: Path, name: str, script: str, *, variables: str = "") -> Path:
    """Write a hook; the lab's Fairlead is in a folder of its own, and Slurm sets no variables."""
    path = folder / name
    begin = f"#!/bin/sh\nPATH={Path(sys.executable).parent}:$PATH\nexport PATH {variables}\n"
    path.write_text(script.replace("#!/bin/sh\n", begin, 1))
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    require_slurm()
    folder = tmp_path_factory.mktemp("hooks")
    data = f"XDG_DATA_HOME={os.environ['XDG_DATA_HOME']}" if "XDG_DATA_HOME" in os.environ else ""
    task = install(folder, "task-prolog", script_of("TaskProlog"), variables=data)
    prolog = install(folder, "prolog", script_of("Prolog"), variables=data)
    # So that the other tests need not wait for it.
    prolog.write_text(
        prolog.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n[ -e {folder}/on ] || exit 0\n", 1)
    )
    lines = f"TaskProlog={task}\nProlog={prolog}\nPrologFlags=Alloc\n"
    with Lab.up(CLOUD) as lab, slurm_cluster(lab, folder, 2, lines) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def torchrun() -> str:
    found = shutil.which("torchrun")
    python = "/usr/bin/python3"
    has_gloo = "import torch.distributed as d; d.ProcessGroupGloo"
    if found is None or subprocess.run([python, "-c", has_gloo], check=False).returncode:
        skip_or_fail("torchrun with gloo is not installed (Debian: python3-torch)")
    return found


def ran(slurm: SlurmCluster, folder: str, line: str, *options: str) -> str:
    """What a job with this line in its script printed."""
    path = slurm.folder / folder
    path.mkdir()
    variables = {"GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": "1"}
    job = slurm.submit(f"#!/bin/bash\n{line}\n", *options, cwd=path, env=variables)
    state, printed = slurm.wait_for(job), (path / f"{job}.out").read_text()
    assert state == "COMPLETED", printed
    return printed


def ranks_in(printed: str) -> list[tuple[str, str]]:
    return sorted(re.findall(r"rank (\d) on (h\d) of 6$", printed, re.MULTILINE))


def test_torchrun_starts_in_a_step_with_the_rank_of_its_host(
    slurm: SlurmCluster, torchrun: str
) -> None:
    started = f"{torchrun} --nproc_per_node=1 {AS_PRINTED} {RANKS}"

    printed = ran(slurm, "exec", f"srun fairlead order --exec -- {started}", *FOUR)

    ranks = ranks_in(printed)
    assert [rank for rank, _ in ranks] == ["0", "1", "2", "3"], printed
    assert sorted(host for _, host in ranks) == ["h0", "h1", "h2", "h3"]
    # Each printed the gain; on a busy machine lines on slow hosts may stand next to it.
    assert len(re.findall(r"^fairlead: order: .*; took ", printed, re.MULTILINE)) == 4, printed


def test_task_prolog_gives_torchrun_its_rank_without_a_change_of_the_job(
    slurm: SlurmCluster, torchrun: str
) -> None:
    started = f"{torchrun} --nproc_per_node=1 {AS_PRINTED} {RANKS}"

    printed = ran(slurm, "task", f"export FAIRLEAD_ORDER=1\nsrun {started}", *FOUR)
    alone = ran(slurm, "other", "srun --ntasks=8 env", *FOUR[:2], "--ntasks-per-node=2")

    assert [rank for rank, _ in ranks_in(printed)] == ["0", "1", "2", "3"], printed
    assert "PET_NODE_RANK" not in alone


def test_prolog_drains_the_slow_host_and_no_other(slurm: SlurmCluster) -> None:
    (slurm.folder / "on").touch()
    job = slurm.submit("#!/bin/bash\ntrue\n", "--nodes=5", "--ntasks=5", cwd=slurm.folder)

    def drained() -> list[str]:
        shown = slurm.run(["sinfo", "--noheader", "--Node", "--format=%N %t"]).stdout
        return [line.split()[0] for line in shown.splitlines() if "drain" in line.split()[1]]

    try:
        assert happens(lambda: bool(drained()))
        assert drained() == [BAD]
    finally:
        (slurm.folder / "on").unlink()
        slurm.run(["scancel", job])
