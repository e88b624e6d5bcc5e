# SPDX-License-Identifier: Apache-2.0
"""A program that calls fairlead.h finds it by pkg-config and by CMake, in the folder of its MPI."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import MpiBuild, find

pytestmark = pytest.mark.mpi

# No oracle is named, so all tasks stay.
PROGRAM = """
#include <fairlead.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int task = 0;
  const int result = fairlead_remap(MPI_COMM_WORLD, 0, NULL, NULL, NULL, &task);
  printf("task %d, %s\\n", task, result == FAIRLEAD_NO_ORACLE ? "no oracle" : "?");
  MPI_Finalize();
  return 0;
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(uses_fairlead LANGUAGES C)
find_package(fairlead REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE fairlead::fairlead)
"""


@pytest.fixture
def build() -> MpiBuild:
    return find(detect("mpirun.openmpi"))


def checked(command: list[str | Path], **variables: str) -> str:
    env = {"PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def runs(program: Path) -> bool:
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return "task 0, no oracle" in checked(["mpirun.openmpi", "-n", "1", program], **env)


def test_pkg_config_finds_it(build: MpiBuild, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    folder = {"PKG_CONFIG_PATH": str(build.root / "lib" / "pkgconfig")}
    flags = checked(["pkg-config", "--cflags", "--libs", "fairlead"], **folder).split()

    checked(["mpicc.openmpi", tmp_path / "program.c", "-o", tmp_path / "program", *flags])

    assert runs(tmp_path / "program")


def test_cmake_finds_it(build: MpiBuild, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    cmake = shutil.which("cmake") or "cmake"

    checked([cmake, "-S", tmp_path, "-B", tmp_path / "build",
             "-DCMAKE_C_COMPILER=mpicc.openmpi", f"-DCMAKE_PREFIX_PATH={build.root}"])  # fmt: skip
    checked([cmake, "--build", tmp_path / "build"])

    assert runs(tmp_path / "build" / "program")
