# SPDX-License-Identifier: Apache-2.0
"""Which remote agent is asked, and which hosts are not asked at all."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairlead.act.launch import Launcher, unreachable_hosts
from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.act.launch.reach import remote_agent
from fairlead.errors import LaunchError
from fairlead.model.cluster import Cluster

LAUNCHERS: list[tuple[Launcher, str, tuple[str, ...]]] = [
    (OpenMpi4(Path("/m"), (4, 1, 4)), "OMPI_MCA_plm_rsh_agent", ("--mca", "plm_rsh_agent")),
    (OpenMpi5(Path("/m"), (5, 0, 1)), "PRTE_MCA_plm_ssh_agent", ("--prtemca", "plm_ssh_agent")),
    (Mpich(Path("/m"), (4, 0, 2)), "HYDRA_LAUNCHER_EXEC", ("-launcher-exec",)),
    (IntelMpi(Path("/m"), (2021, 18)), "I_MPI_HYDRA_BOOTSTRAP_EXEC", ("-bootstrap-exec",)),
]


@pytest.fixture(autouse=True)
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable, _ in LAUNCHERS:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)


@pytest.mark.parametrize(("launcher", "variable", "option"), LAUNCHERS)
def test_agent_is_the_argument_then_the_variable_then_ssh(
    launcher: Launcher, variable: str, option: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert remote_agent(launcher) is None

    monkeypatch.setenv(variable, "/bin/agent -v")
    assert remote_agent(launcher) == ["/bin/agent", "-v"]

    assert remote_agent(launcher, ("-q", *option, "/bin/other")) == ["/bin/other"]


def test_first_installed_of_open_mpi_s_alternatives_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", "/no/such -x : true -y")

    assert remote_agent(LAUNCHERS[0][0]) == ["true", "-y"]


@pytest.mark.parametrize(("launcher", "variable", "_option"), LAUNCHERS)
def test_missing_agent_is_named_with_the_variable_to_set(
    launcher: Launcher, variable: str, _option: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/no/such/agent")

    with pytest.raises(LaunchError, match=f"/no/such/agent: no such program.*set {variable}"):
        unreachable_hosts(launcher, ["other"], timeout_s=1)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (" ", "' ' names no program"),
        (" : ", "' : ' names no program"),
        ("ssh 'x", "no closing quotation"),
        ("ssh \\", "no escaped character"),
    ],
)
@pytest.mark.parametrize(("launcher", "variable", "option"), LAUNCHERS)
def test_an_unusable_agent_is_named_with_its_origin(
    launcher: Launcher, variable: str, option: tuple[str, ...], value: str, problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with pytest.raises(LaunchError, match=f"^{option[-1]}: .*{problem}"):
        unreachable_hosts(launcher, ["other"], 1, (*option, value))
    monkeypatch.setenv(variable, value)
    with pytest.raises(LaunchError, match=f"^{variable}: .*{problem}"):
        unreachable_hosts(launcher, ["other"], 1)


def test_hosts_may_be_more_than_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_LAUNCHER_EXEC", "false")
    hosts = [f"n{number}.invalid" for number in range(100)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        reasons = unreachable_hosts(LAUNCHERS[2][0], hosts, timeout_s=300)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert reasons == dict.fromkeys(hosts, "false ended with exit code 1")


def test_missing_ssh_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(LaunchError, match=r"ssh: no such program.*openssh-client"):
        unreachable_hosts(LAUNCHERS[0][0], ["other.invalid"], timeout_s=1)


def test_this_machine_needs_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", "/no/such/agent")

    assert unreachable_hosts(LAUNCHERS[0][0], Cluster(("localhost",), (1,)), 1) == {}


HOSTS = [f"n{number}.invalid" for number in range(20)]


def use_agent(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = folder / "agent"
    agent.write_text(f"#!/bin/sh\n{script}\n")
    agent.chmod(0o755)
    monkeypatch.setenv("HYDRA_LAUNCHER_EXEC", str(agent))


def test_hosts_are_asked_side_by_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # None answers before all are asked.
    asked = tmp_path / "asked"
    asked.mkdir()
    script = f"touch {asked}/$1; until [ $(ls {asked} | wc -l) = 20 ]; do sleep 0.05; done"
    use_agent(script, tmp_path, monkeypatch)

    assert unreachable_hosts(LAUNCHERS[2][0], HOSTS, timeout_s=600) == {}


def test_hosts_that_do_not_answer_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_agent("sleep 3000", tmp_path, monkeypatch)

    reasons = unreachable_hosts(LAUNCHERS[2][0], HOSTS, timeout_s=1)

    assert reasons == dict.fromkeys(HOSTS, "no answer within 1 s")


def test_a_folder_that_a_killed_process_left_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    asked = tmp_path / "asked"
    use_agent(
        f"echo $$ > {asked}.part; mv {asked}.part {asked}; exec sleep 3000", tmp_path, monkeypatch
    )
    command = (
        "from pathlib import Path; from fairlead.act.launch import unreachable_hosts; "
        "from fairlead.act.launch.mpich import Mpich; "
        "unreachable_hosts(Mpich(Path('/m'), (4, 0, 2)), ['n0.invalid'], 3000)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", command], env={**os.environ, "TMPDIR": str(temporary)}
    )
    while not asked.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    os.kill(int(asked.read_text()), signal.SIGKILL)
    assert len(list(temporary.iterdir())) == 1

    use_agent("true", tmp_path, monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    unreachable_hosts(LAUNCHERS[2][0], HOSTS[:1], timeout_s=600)
    assert list(temporary.iterdir()) == []


def test_ssh_is_not_asked_inside_a_slurm_allocation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    srun = tmp_path / "srun"
    srun.write_text("#!/bin/sh\n")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_ID", "1")

    assert unreachable_hosts(LAUNCHERS[0][0], ["n1.invalid"], timeout_s=1) == {}
