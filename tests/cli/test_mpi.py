# SPDX-License-Identifier: Apache-2.0
"""`fairlead mpi`: builds are listed, added for one more MPI, and found by that MPI's launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.act.launch import LaunchSpec, detect, run
from fairlead.act.mpi_builds import find

BIN = Path(sys.executable).parent


def fairlead(*words: str, data_home: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_DATA_HOME": str(data_home)}
    command = [sys.executable, "-m", "fairlead", "mpi", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.mpi
@pytest.mark.slow
def test_added_mpi_is_listed_and_its_programs_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `make` has added it: a second build would take minutes and show nothing new.
    data_home = Path(os.environ["XDG_DATA_HOME"])
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    root = data_home / "fairlead" / "mpi" / "openmpi-5"

    # Nothing of the building itself stays.
    assert root in [*root.parent.iterdir()]
    assert not [*root.parent.glob(".build-*")]

    listed = fairlead("list", "--json", data_home=data_home)
    is_current = {build["root"]: build["is_current"] for build in json.loads(listed.stdout)}
    assert is_current[str(root)]
    assert str(root) in fairlead("list", data_home=data_home).stdout

    launcher = detect(str(BIN / "mpirun"))
    build = find(launcher)
    assert build.root == root
    assert build.probe.is_file()
    assert build.intercept.is_file()
    spec = LaunchSpec((str(build.example("cg")),), 2, launcher_args=("--map-by", ":oversubscribe"))
    finished = run(launcher.prepare_command(spec, tmp_path), capture=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        ("/no/such/mpicxx", "fairlead: /no/such/mpicxx: no such compiler wrapper"),
        ("g++", "is not an MPI C++ compiler wrapper"),
        ("/bin/true", "is not an MPI C++ compiler wrapper"),
    ],
)
def test_wrapper_of_no_mpi_is_one_clear_line(wrapper: str, message: str, tmp_path: Path) -> None:
    done = fairlead("add", "--mpicxx", wrapper, data_home=tmp_path)

    assert done.returncode == 1
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_add_without_a_wrapper_is_wrong_usage(tmp_path: Path) -> None:
    done = fairlead("add", data_home=tmp_path)

    assert done.returncode == 2
    assert "--mpicxx" in done.stderr


@pytest.mark.parametrize("words", [("list",), ("add",)])
def test_help_shows_an_example(words: tuple[str, ...], tmp_path: Path) -> None:
    done = fairlead(*words, "--help", data_home=tmp_path)

    assert done.returncode == 0
    assert f"Example: fairlead mpi {words[0]}" in done.stdout
