# SPDX-License-Identifier: Apache-2.0
"""What every test with MPI programs needs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest
from launchers import INTEL_MPI_ROOT, MPIS, agent_environment
from tracing import AS_ROOT, TracedMpi
from tracing import MPIS as TRACED_MPIS

from fairlead.act.launch import Launcher, detect


@pytest.fixture(autouse=True, scope="module")
def allow_root() -> Iterator[None]:
    """CI runs as root in a container, which Open MPI refuses unless variables allow it.

    For the whole module, because the fixtures of a module start programs too.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in AS_ROOT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True, scope="module")
def intel_mpi_root() -> Iterator[None]:
    """The compiler wrappers of Intel MPI's wheel do not know where they are installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("I_MPI_ROOT", str(INTEL_MPI_ROOT))
        yield


@pytest.fixture(autouse=True, scope="module")
def own_session_folder() -> Iterator[None]:
    """Open MPI 5 does not start where a killed run with the same process id left its folder."""
    # Not pytest's folder: a socket's name may have 107 characters.
    with (
        tempfile.TemporaryDirectory(prefix="fl", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", folder)
        yield


@pytest.fixture
def invented_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hosts of any name can be reached, and all are this machine."""
    with agent_environment() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture(params=MPIS)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    """Each of the launchers in turn."""
    return detect(MPIS[request.param].mpirun)


@pytest.fixture
def one_launcher() -> Launcher:
    """For what does not depend on the launcher."""
    return detect(MPIS["openmpi-4"].mpirun)


@pytest.fixture(scope="module", params=sorted(TRACED_MPIS))
def mpi(request: pytest.FixtureRequest) -> TracedMpi:
    """Each of the MPIs in turn, with what builds and starts programs."""
    return TRACED_MPIS[request.param]


@pytest.fixture(scope="module")
def openmpi() -> TracedMpi:
    """For what does not depend on the MPI."""
    return TRACED_MPIS["openmpi-4"]
