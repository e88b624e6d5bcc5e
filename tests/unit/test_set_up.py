# SPDX-License-Identifier: Apache-2.0
"""What `make` builds again and which MPIs a build finds, with stand-ins for pip and wrappers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


class Machine:
    """A PATH with the shell's tools and chosen MPIs, and a virtual environment of stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.venv = folder / "venv"
        self.log = folder / "pip.log"
        for tool in ("sh", "bash", "env", "make", "cmake", "cmp", "find", "mkdir", "mv", "readlink",
                     "rm", "sort", "stat", "touch"):  # fmt: skip
            found = next(p for p in ("/usr/bin", "/bin") if Path(p, tool).exists())
            executable(self.bin / tool, f'exec {found}/{tool} "$@"')
        executable(self.venv / "bin" / "python", "exit 0")
        executable(self.venv / "bin" / "pip", f'echo "$@" >> {self.log}')

    def add_mpi(self, wrapper: str, identity: str) -> Path:
        """A wrapper whose preprocessor answers as this MPI's does."""
        return executable(self.bin / wrapper, f"echo 'fairlead_mpi {identity}'")

    def call(self, *command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(self.bin), "FAIRLEAD_SKIP_PACKAGES": "1", "HOME": os.environ["HOME"]}
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def num_builds(self) -> int:
        """How often the package was built, once what `make` has to do now is done."""
        self.call("make", f"VENV={self.venv}", f"{self.venv}/stamps/package")
        return self.log.read_text().count("--editable")

    def found_mpis(self, *options: str) -> list[str]:
        script = self.venv / "search.cmake"
        search = ROOT / "cmake" / "MpiWrappers.cmake"
        script.write_text(f"cmake_minimum_required(VERSION 3.22)\ninclude({search})\n")
        lines = self.call(
            "cmake", *options, "-P", str(script), folder=self.venv
        ).stdout.splitlines()
        return [line.removeprefix("-- MPI: ") for line in lines if line.startswith("-- MPI: ")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_package_is_built_again_when_an_mpi_has_come_gone_or_changed(machine: Machine) -> None:
    machine.add_mpi("mpicxx.openmpi", "openmpi 4 1 4")
    counts = [machine.num_builds(), machine.num_builds()]
    machine.add_mpi("mpicxx.mpich", 'mpich "4.0.2"')
    counts += [machine.num_builds(), machine.num_builds()]
    machine.add_mpi("mpicxx.mpich", 'mpich "4.2.0"')
    counts += [machine.num_builds(), machine.num_builds()]
    (machine.bin / "mpicxx.openmpi").unlink()
    counts += [machine.num_builds(), machine.num_builds()]

    assert counts == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("goal", ["test", "bench-short"])
def test_package_is_built_after_the_test_packages_where_tests_follow(
    goal: str, machine: Machine
) -> None:
    plan = machine.call("make", "--dry-run", f"VENV={machine.venv}", goal).stdout

    assert 0 < plan.index("packages-test.txt") < plan.index("scripts/list-mpis")
    assert plan.index("scripts/list-mpis") < plan.index("--editable")


def test_demo_does_not_need_the_test_packages(machine: Machine) -> None:
    plan = machine.call("make", "--dry-run", f"VENV={machine.venv}", "demo").stdout

    assert "packages-run.txt" in plan
    assert "packages-test.txt" not in plan


def test_one_mpi_under_two_names_is_built_once(machine: Machine) -> None:
    machine.add_mpi("mpicxx.mpich", 'mpich "4.0.2"')
    (machine.bin / "mpicxx").symlink_to("mpicxx.mpich")

    assert machine.found_mpis() == [f"{machine.bin}/mpicxx (mpich-libmpi.so.12)"]


def test_own_mpi_first_on_path_is_built_next_to_the_distributions(machine: Machine) -> None:
    machine.add_mpi("mpicxx", "openmpi 5 0 3")
    machine.add_mpi("mpicxx.openmpi", "openmpi 4 1 4")
    machine.add_mpi("mpicxx.mpich", 'mpich "4.0.2"')

    assert machine.found_mpis() == [
        f"{machine.bin}/mpicxx (openmpi-5)",
        f"{machine.bin}/mpicxx.openmpi (openmpi-4)",
        f"{machine.bin}/mpicxx.mpich (mpich-libmpi.so.12)",
    ]


def test_wrapper_without_a_compiler_or_of_another_mpi_is_left_out(machine: Machine) -> None:
    executable(machine.bin / "mpicxx", "exit 1")
    machine.add_mpi("mpicxx.openmpi", "unknown 0")
    machine.add_mpi("mpicxx.mpich", 'mpich "4.0.2"')

    assert machine.found_mpis() == [f"{machine.bin}/mpicxx.mpich (mpich-libmpi.so.12)"]


def test_named_wrappers_replace_the_search(machine: Machine) -> None:
    machine.add_mpi("mpicxx.openmpi", "openmpi 4 1 4")
    named = machine.add_mpi("own", 'mpich "4.0.2"')

    assert machine.found_mpis(f"-DFAIRLEAD_MPICXX={named}") == [f"{named} (mpich-libmpi.so.12)"]


def test_mpi_side_is_installed_in_the_build_again_where_its_wrapper_has_another_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "mpi").mkdir()
    (tmp_path / "mpi" / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(side LANGUAGES CXX)\n"
        'file(WRITE ${CMAKE_BINARY_DIR}/wrapper "${CMAKE_CXX_COMPILER}")\n'
        "install(FILES ${CMAKE_BINARY_DIR}/wrapper DESTINATION side)\n"
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(whole LANGUAGES NONE)\n"
        f"include({ROOT}/cmake/CoreParts.cmake)\n"
        "foreach(part IN LISTS fairlead_core_parts)\n  get_filename_component(name ${part} NAME)\n"
        "  add_custom_target(fairlead_${name})\nendforeach()\n"
        f"include({ROOT}/cmake/MpiProject.cmake)\nadd_mpi_project(side ${{WRAPPER}} 4.1.4)\n"
    )
    build = tmp_path / "build"
    for name in ("mpicxx", "mpicxx.openmpi"):
        wrapper = executable(tmp_path / name, 'exec c++ "$@"')
        for command in (["-S", tmp_path, "-B", build, f"-DWRAPPER={wrapper}"], ["--build", build]):
            subprocess.run(["cmake", *command], check=True, capture_output=True)
        installed = build / "_mpi" / "side" / "wrapper"
        assert installed.read_text() == str(wrapper)
        # CMake takes files of the same second for the same ones.
        os.utime(installed, (0, 0))
