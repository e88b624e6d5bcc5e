# SPDX-License-Identifier: Apache-2.0
"""How programs are started on other hosts without an MPI launcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.launch import LAUNCHERS
from fairlead.act.launch.remote_command import remote_command
from fairlead.errors import LaunchError

PROGRAM = ["/opt/probe", "--listen", "10.0.0.1"]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", *(name for each in LAUNCHERS for name in each.agent_variables)):
        monkeypatch.delenv(name, raising=False)


def program_named(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_this_machine_needs_no_agent() -> None:
    assert remote_command()("localhost", PROGRAM) == PROGRAM


def test_agent_that_a_launcher_s_variable_names_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent = program_named(tmp_path, "agent")
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", f"{agent} -q")

    assert remote_command()("far.invalid", PROGRAM) == [
        agent,
        "-q",
        "far.invalid",
        "/opt/probe --listen 10.0.0.1",
    ]


def test_agent_of_the_option_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", program_named(tmp_path, "other"))
    agent = program_named(tmp_path, "mine")

    assert remote_command(agent)("far.invalid", PROGRAM)[0] == agent


def test_job_of_slurm_is_entered_by_srun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program_named(tmp_path, "srun")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_ID", "7")

    words = remote_command()("n3", PROGRAM)

    assert words[0] == "srun" and "--nodelist=n3" in words
    assert words[-3:] == PROGRAM


def test_missing_agent_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(LaunchError, match=r"ssh: no such program.*--agent, or use --join"):
        remote_command()("far.invalid", PROGRAM)
