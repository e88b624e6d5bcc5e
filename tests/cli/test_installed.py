# SPDX-License-Identifier: Apache-2.0
"""What is installed works where the sources and the folder of the build do not exist.

`packaging/try-wheel` does the same with a wheel on a fresh machine, which takes minutes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairlead

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).parents[2]
SITE_PACKAGES = Path(pytest.__file__).parents[1]


def copy_installed(folder: Path) -> Path:
    """What a wheel of the current build would install."""
    (build,) = (ROOT / "build").glob(f"cp{sys.version_info[0]}{sys.version_info[1]}-*")
    command = ["cmake", "--install", str(build), "--prefix", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    shutil.copytree(Path(fairlead.__file__).parent, folder / "fairlead", dirs_exist_ok=True)
    return folder / "fairlead"


def without_sources(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """A command where this checkout, with its virtual environment, is an empty folder."""
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "PYTHONPATH": f"{folder}:/media/dependencies",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    hidden = ("--tmpfs", "/media", "--ro-bind", SITE_PACKAGES, "/media/dependencies")
    mounts = ("--dev-bind", "/", "/", *hidden, "--tmpfs", ROOT, "--chdir", folder)
    return subprocess.run(
        ["bwrap", *mounts, *command], env=variables, capture_output=True, text=True, check=False
    )


def test_an_installed_copy_traces_a_program(tmp_path: Path) -> None:
    package = copy_installed(tmp_path)
    python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info[1]}")
    command = (python, "-m", "fairlead")

    listed = without_sources(tmp_path, *command, "mpi", "list", "--json")
    traced = without_sources(
        tmp_path, *command, "trace", "--json", "-n", "2", "--mpirun", "mpirun.openmpi",
        "--launcher-args=--oversubscribe", "-o", "cg.traffic.npz", "--",
        package / "_mpi" / "openmpi-4" / "examples" / "cg",
    )  # fmt: skip

    assert listed.returncode == 0, listed.stderr
    folders = [Path(one["root"]) for one in json.loads(listed.stdout)]
    assert folders and all(folder.is_relative_to(package) for folder in folders)
    assert traced.returncode == 0, traced.stderr
    assert (tmp_path / "cg.traffic.npz").is_file()
