# SPDX-License-Identifier: Apache-2.0
"""Which build belongs to a launcher, and what is said when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.act import mpi_add, mpi_builds
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.errors import InputError, LaunchError


@pytest.fixture(autouse=True)
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user folder, and a package without builds."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FAIRLEAD_MPI_BUILDS", raising=False)
    monkeypatch.setattr("fairlead.__path__", [str(tmp_path / "package")])
    return tmp_path


def make_build(folder: Path, family: str, version: str) -> Path:
    root = folder / f"{family}-{version[0]}"
    root.mkdir(parents=True)
    record = {"family": family, "version": version, "wrapper": "/usr/bin/mpicxx"}
    (root / "mpi.json").write_text(json.dumps(record))
    return root


def test_family_and_major_version_decide(data_home: Path) -> None:
    package = data_home / "package" / "_mpi"
    four = make_build(package, "openmpi", "4.1.4")
    five = make_build(package, "openmpi", "5.0.11")
    mpich = make_build(package, "mpich", "4.0.2")

    assert mpi_builds.find(OpenMpi4(Path("/m"), (4, 0, 7))).root == four
    assert mpi_builds.find(OpenMpi5(Path("/m"), (5, 0, 1))).root == five
    assert mpi_builds.find(Mpich(Path("/m"), (4, 2))).root == mpich


def test_environment_wins_over_the_user_and_the_user_over_the_package(
    data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = OpenMpi4(Path("/m"), (4, 1, 4))

    from_package = make_build(data_home / "package" / "_mpi", "openmpi", "4.1.4")
    assert mpi_builds.find(launcher).root == from_package

    from_user = make_build(data_home / "data" / "fairlead" / "mpi", "openmpi", "4.1.4")
    assert mpi_builds.find(launcher).root == from_user

    chosen = make_build(data_home / "chosen", "openmpi", "4.1.4")
    monkeypatch.setenv("FAIRLEAD_MPI_BUILDS", str(data_home / "chosen"))
    assert mpi_builds.find(launcher).root == chosen


def test_missing_build_is_told_with_the_line_that_makes_it(data_home: Path) -> None:
    make_build(data_home / "package" / "_mpi", "mpich", "4.0.2")
    folder = data_home / "my mpi"
    folder.mkdir()
    (folder / "mpicxx").touch()

    with pytest.raises(LaunchError) as caught:
        mpi_builds.find(OpenMpi5(folder / "mpirun", (5, 0, 11)))

    assert "not built for Open MPI 5.0.11" in str(caught.value)
    assert "only for: MPICH 4.0.2" in str(caught.value)
    assert str(caught.value).endswith(f"fairlead mpi add --mpicxx '{folder}/mpicxx'")


def test_debian_s_launcher_leads_to_debian_s_wrapper(data_home: Path) -> None:
    (data_home / "mpicxx.mpich").touch()

    with pytest.raises(LaunchError, match=f"--mpicxx {data_home}/mpicxx.mpich$"):
        mpi_builds.find(Mpich(data_home / "mpirun.mpich", (4, 0, 2)))


@pytest.mark.parametrize("text", ["", "[]", '{"family": "openmpi"}', '{"version": 3}'])
def test_damaged_record_is_named(text: str, data_home: Path) -> None:
    root = make_build(data_home / "package" / "_mpi", "openmpi", "4.1.4")
    (root / "mpi.json").write_text(text)

    with pytest.raises(LaunchError, match=rf"{root}/mpi.json: damaged .*build it again"):
        mpi_builds.list_builds()


def test_unknown_example_is_named_with_those_there_are(data_home: Path) -> None:
    root = make_build(data_home / "package" / "_mpi", "openmpi", "4.1.4")
    (root / "examples").mkdir()
    (root / "examples" / "cg").touch()
    build = mpi_builds.find(OpenMpi4(Path("/m"), (4, 1, 4)))

    assert build.example("cg") == root / "examples" / "cg"
    with pytest.raises(InputError, match="no example 'lu'; there are: cg"):
        build.example("lu")


def test_wrapper_without_mpi_leaves_nothing_half_built(
    data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = Path(mpi_builds.__file__).parents[1]
    monkeypatch.setattr("fairlead.__path__", [str(sources)])

    with pytest.raises(LaunchError, match=r"/g\+\+: the set-up failed: .*is not an MPI C\+\+"):
        mpi_add.add("g++")
    with pytest.raises(LaunchError, match="nix: no such compiler wrapper"):
        mpi_add.add("nix")

    assert not any((data_home / "data" / "fairlead" / "mpi").iterdir())


def test_missing_cmake_is_told(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = data_home / "mpicxx"
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(data_home))
    monkeypatch.setattr("sys.executable", str(data_home / "python"))

    with pytest.raises(LaunchError, match="cmake is missing"):
        mpi_add.add(wrapper)


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "CMake Error at a.cmake:3 (message):\n  g++ is not\n\n  a wrapper:\n\n\n-- Bad\n",
            "g++ is not a wrapper",
        ),
        ("[1/2] x\na.cpp:3:5: error: 'y' was not declared\nmake: *** [x] Error 1\n", "a.cpp:3:5: "),
        ("something\nlast words\n", "last words"),
        ("", "no output"),
    ],
)
def test_the_line_that_matters_is_taken_from_a_failed_build(output: str, line: str) -> None:
    assert mpi_add._first_error(output).startswith(line)
