# SPDX-License-Identifier: Apache-2.0
"""Where Fairlead is installed does not matter, though the loader splits LD_PRELOAD."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tracing import MPIS

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.act.preload import preload_variables
from fairlead.errors import LaunchError

pytestmark = [pytest.mark.mpi]


@pytest.fixture(params=["two words", "a:b", "tab\tand new\nline"])
def odd_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with such a name, in which the build for Open MPI 4 is."""
    built = find(detect(MPIS["openmpi-4"].mpirun)).root
    folder = tmp_path / request.param
    shutil.copytree(built, folder / built.name)
    monkeypatch.setenv("FAIRLEAD_MPI_BUILDS", str(folder))
    return folder


def test_program_is_traced_wherever_the_library_is(
    odd_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = MPIS["openmpi-4"]
    program = mpi.build("exchanges.c")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert find(detect(mpi.mpirun)).root.parent == odd_folder

    for _ in range(2):  # The second time the link is there.
        traffic = mpi.trace(2, program)
        assert traffic.num_ranks == 2
        assert traffic.total.messages.sum() > 0


def test_error_names_the_reason_where_no_path_can_be_given(
    odd_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = find(detect(MPIS["openmpi-4"].mpirun)).intercept
    monkeypatch.setenv("XDG_DATA_HOME", str(odd_folder))

    with pytest.raises(LaunchError, match="no library with a blank or ':' in its path"):
        preload_variables({}, library)
