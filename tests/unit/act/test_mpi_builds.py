# SPDX-License-Identifier: Apache-2.0
"""Which build belongs to a launcher, and what is said when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.act import mpi_add, mpi_builds
from fairlead.act.launch import detect
from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.errors import InputError, LaunchError
from fairlead.files.package_folders import mpi_sources_digest


@pytest.fixture(autouse=True)
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FAIRLEAD_MPI_BUILDS", raising=False)
    return tmp_path


def make_build(folder: Path, family: str, version: str, abi: str = "", **more: str) -> Path:
    abi = abi or f"{family}-{version[0]}"
    root = folder / abi
    root.mkdir(parents=True)
    record = {"abi": abi, "family": family, "version": version, "wrapper": "/usr/bin/mpicxx"}
    record |= more
    (root / "mpi.json").write_text(json.dumps(record))
    return root


def make_mpi(prefix: Path, library: str, folder: str = "lib") -> Path:
    """The launcher of an MPI that is installed in a folder."""
    (prefix / folder).mkdir(parents=True)
    (prefix / folder / library).touch()
    (prefix / "bin").mkdir()
    return prefix / "bin" / "mpiexec"


def test_the_major_version_of_open_mpi_decides(tmp_path: Path) -> None:
    four = make_build(tmp_path, "openmpi", "4.1.4")
    five = make_build(tmp_path, "openmpi", "5.0.11")

    assert mpi_builds.find(OpenMpi4(Path("/m"), (4, 0, 7)), [tmp_path]).root == four
    assert mpi_builds.find(OpenMpi5(Path("/m"), (5, 0, 1)), [tmp_path]).root == five


def test_one_build_serves_all_mpis_whose_library_has_the_name_it_needs(tmp_path: Path) -> None:
    shared = make_build(tmp_path, "intel", "2021.18.1", "mpich-libmpi.so.12")
    debian = make_build(tmp_path, "mpich", "4.0.2", "mpich-libmpich.so.12")
    three, four = tmp_path / "3", tmp_path / "4"
    launchers = {
        Mpich(make_mpi(three, "libmpi.so.12"), (3, 1)): shared,
        Mpich(make_mpi(four, "libmpi.so.12", "lib64"), (4, 3, 2)): shared,
        # Nothing is next to a launcher of its own folder; MPICH's own name is assumed.
        Mpich(tmp_path / "alone" / "bin" / "mpiexec", (4, 3, 2)): shared,
        IntelMpi(tmp_path / "oneapi" / "bin" / "mpirun", (2019, 9)): shared,
        Mpich(make_mpi(tmp_path / "d", "libmpich.so.12", "lib/x86_64-linux-gnu"), (4, 2)): debian,
    }

    found = {each: mpi_builds.find(each, [tmp_path]).root for each in launchers}

    assert found == launchers


def test_a_program_of_mpi_5_s_interface_gets_the_part_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_build(tmp_path, "mpich", "4.3.2", "mpich-libmpi.so.12")
    path = make_mpi(tmp_path / "five", "libmpi_abi.so.1")
    (path.parents[1] / "lib" / "libmpi.so.12").touch()
    path.write_text("#!/bin/sh\necho 'HYDRA build details: Version: 5.0.2'\n")
    path.chmod(0o755)
    listed = {"/bin/true": "\tlibmpi_abi.so.1 => not found\n", "/bin/false": ""}
    monkeypatch.setattr("fairlead.act.launch.catalogue.list_libraries", listed.get)

    with pytest.raises(LaunchError, match=r"not built for libmpi_abi.so.1 of MPICH 5.0.2 .*_abi$"):
        mpi_builds.find(detect(str(path), ["/bin/true"]), [tmp_path])
    part = make_build(tmp_path, "standard", "1.0", "standard-libmpi_abi.so.1")

    assert mpi_builds.find(detect(str(path), ["/bin/true"]), [tmp_path]).root == part
    assert detect(str(path), ["/bin/false"]).abi == "mpich-libmpi.so.12"
    of_program = mpi_builds.library_path(detect(str(path), ["/bin/true"]))
    assert of_program["LD_LIBRARY_PATH"].startswith(f"{tmp_path}/five/lib")


def test_a_shared_build_loads_the_library_of_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    intel = IntelMpi(make_mpi(tmp_path / "i", "libmpi.so.12", "lib/release"), (2021, 18))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/others")

    path = {"LD_LIBRARY_PATH": f"{tmp_path}/i/lib/release:/others"}
    assert mpi_builds.library_path(intel) == path
    assert mpi_builds.library_path(OpenMpi4(intel.path, (4, 1, 4))) == {}
    # Nothing is changed where the loader looks anyhow.
    assert mpi_builds.library_path(Mpich(Path("/usr/bin/mpirun.mpich"), (4, 0, 2))) == {}


def test_environment_wins_over_the_user_and_the_user_over_the_package(
    data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = data_home / "package"

    def found() -> Path:
        launcher = OpenMpi4(Path("/m"), (4, 1, 4))
        return mpi_builds.find(launcher, mpi_builds.build_folders([package])).root

    from_package = make_build(package, "openmpi", "4.1.4")
    assert found() == from_package

    from_user = make_build(data_home / "data" / "fairlead" / "mpi", "openmpi", "4.1.4")
    assert found() == from_user

    chosen = make_build(data_home / "chosen", "openmpi", "4.1.4")
    monkeypatch.setenv("FAIRLEAD_MPI_BUILDS", str(data_home / "chosen"))
    assert found() == chosen


def test_build_for_an_mpi_of_the_environment_is_found_after_its_activation(
    data_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", str(data_home / "venv"))
    built = make_build(data_home / "venv" / "share" / "fairlead" / "mpi", "openmpi", "5.0.11")
    launcher = OpenMpi5(data_home / "venv" / "bin" / "mpirun", (5, 0, 11))

    assert mpi_builds.find(launcher, mpi_builds.build_folders([])).root == built


def test_missing_build_is_reported_with_the_line_that_makes_it(tmp_path: Path) -> None:
    make_build(tmp_path, "mpich", "4.0.2")
    folder = tmp_path / "my mpi"
    folder.mkdir()
    (folder / "mpicxx").touch()

    with pytest.raises(LaunchError) as caught:
        mpi_builds.find(OpenMpi5(folder / "mpirun", (5, 0, 11)), [tmp_path])

    assert "not built for Open MPI 5.0.11" in str(caught.value)
    assert "only for: MPICH 4.0.2" in str(caught.value)
    assert str(caught.value).endswith(f"fairlead mpi add --mpicxx '{folder}/mpicxx'")


def test_debian_s_launcher_leads_to_debian_s_wrapper(tmp_path: Path) -> None:
    (tmp_path / "mpicxx.mpich").touch()

    with pytest.raises(LaunchError, match=f"--mpicxx {tmp_path}/mpicxx.mpich$"):
        mpi_builds.find(Mpich(tmp_path / "mpirun.mpich", (4, 0, 2)), [])


def test_a_build_of_other_sources_is_to_be_built_again(tmp_path: Path) -> None:
    launcher = OpenMpi4(Path("/m"), (4, 1, 4))
    own = make_build(tmp_path / "own", "openmpi", "4.1.4", sources_digest=mpi_sources_digest())
    make_build(tmp_path / "old", "openmpi", "4.1.4", sources_digest="0" * 64)

    assert mpi_builds.find(launcher, [tmp_path / "own"]).root == own
    with pytest.raises(LaunchError, match=r"another version.*mpi add --mpicxx /usr/bin/mpicxx$"):
        mpi_builds.find(launcher, [tmp_path / "old", tmp_path / "own"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "damaged or truncated JSON"),
        ("[]", "Input should be"),
        ('{"family": "openmpi"}', "version: Field required"),
        ('{"family": "openmpi", "version": 3}', "version: Input should be a valid string, got 3"),
    ],
)
def test_damaged_record_is_named(text: str, problem: str, tmp_path: Path) -> None:
    root = make_build(tmp_path, "openmpi", "4.1.4")
    (root / "mpi.json").write_text(text)

    with pytest.raises(LaunchError, match=rf"{root}/mpi.json: {problem}.*build it again"):
        mpi_builds.list_builds([tmp_path])


def test_unknown_example_is_named_with_those_there_are(tmp_path: Path) -> None:
    root = make_build(tmp_path, "openmpi", "4.1.4")
    (root / "examples").mkdir()
    (root / "examples" / "cg").touch()
    build = mpi_builds.find(OpenMpi4(Path("/m"), (4, 1, 4)), [tmp_path])

    assert build.example("cg") == root / "examples" / "cg"
    with pytest.raises(InputError, match="no example 'lu'; there are: cg"):
        build.example("lu")


def test_wrapper_without_mpi_leaves_nothing_half_built(data_home: Path) -> None:
    with pytest.raises(LaunchError, match=r"/g\+\+: the set-up failed: .*is not an MPI C\+\+"):
        mpi_add.add("g++")
    with pytest.raises(LaunchError, match="nix: no such compiler wrapper"):
        mpi_add.add("nix")

    assert not any((data_home / "data" / "fairlead" / "mpi").iterdir())


def test_missing_cmake_is_reported(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert mpi_add.first_error(output).startswith(line)
