# SPDX-License-Identifier: Apache-2.0
"""Programs in containers are traced as they are outside, for the MPI that is inside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from images import by_bubblewrap, by_charliecloud, by_podman, make_image
from launchers import PROGRAMS, VENV
from tracing import MPIS, compiled

import fairlead as fl
from fairlead.act.launch import LaunchSpec, detect
from fairlead.measure.trace import trace
from fairlead.model.traffic import Traffic

pytestmark = pytest.mark.mpi

RUNTIMES = {"charliecloud": by_charliecloud, "bubblewrap": by_bubblewrap, "podman": by_podman}


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working folder outside /tmp, which runtimes share with the host or can mount in."""
    monkeypatch.setenv("USER", "root")  # ch-run refuses to start without
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        monkeypatch.chdir(folder)
        yield


def matrices(traffic: Traffic) -> tuple[list[list[float]], list[list[float]]]:
    return traffic.bytes.toarray().tolist(), traffic.messages.toarray().tolist()


def require_podman(image: Path) -> None:
    """Skip where podman itself starts nothing, as where control groups cannot be written."""
    alone = subprocess.run(
        by_podman(image, "/bin/true"), capture_output=True, text=True, check=False
    )
    if alone.returncode != 0:
        pytest.skip(f"podman starts nothing here: {alone.stderr.strip()}")


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_program_inside_is_traced_as_outside(runtime: str, tmp_path: Path) -> None:
    mpi = MPIS["openmpi-4"]
    program = mpi.build("sends.c")
    image = make_image(tmp_path, program)
    if runtime == "podman":
        require_podman(image)
    inside = RUNTIMES[runtime](image, f"/opt/{program.name}")

    traffic = mpi.trace(3, *inside)

    assert matrices(traffic) == matrices(mpi.trace(3, program))


# Not podman: it closes the file descriptor that Hydra gives its processes.
@pytest.mark.parametrize("runtime", ["charliecloud", "bubblewrap"])
def test_another_mpi_inside_is_traced_by_the_part_for_that_mpi(
    runtime: str, tmp_path: Path
) -> None:
    """Debian's Hydra starts programs of the MPICH wheel: their library has another soname."""
    wheel = VENV / "mpich"
    program = compiled([str(wheel / "bin" / "mpicc")], [PROGRAMS / "sends.c"])
    image = make_image(tmp_path, program)
    (image / "opt" / "mpich").mkdir()
    bind = {
        "charliecloud": ("-b", f"{wheel}:/opt/mpich", "--set-env=LD_LIBRARY_PATH=/opt/mpich/lib"),
        "bubblewrap": (
            *("--ro-bind", str(wheel), "/opt/mpich"),
            *("--setenv", "LD_LIBRARY_PATH", "/opt/mpich/lib"),
        ),
    }[runtime]
    inside = RUNTIMES[runtime](image, f"/opt/{program.name}", options=bind)
    spec = LaunchSpec(inside, 3)

    traffic = trace(detect("mpirun.mpich"), spec).traffic

    assert matrices(traffic) == matrices(MPIS["mpich-4"].trace(3, MPIS["mpich-4"].build("sends.c")))


def test_a_folder_that_is_visible_inside_needs_no_bind(tmp_path: Path) -> None:
    mpi = MPIS["openmpi-4"]
    program = mpi.build("sends.c")
    image = make_image(tmp_path, program, has_mount_points=False)
    (image / str(Path.cwd()).lstrip("/")).mkdir(parents=True)
    here = ("--bind", str(Path.cwd()), str(Path.cwd()))

    traffic = mpi.trace(2, *by_bubblewrap(image, f"/opt/{program.name}", options=here))

    assert matrices(traffic) == matrices(mpi.trace(2, program))


CLOSED: dict[str, tuple[Callable[..., tuple[str, ...]], str]] = {
    "no way in": (by_charliecloud, "can't mkdir"),
    "read-only root": (by_bubblewrap, "Can't mkdir"),
}


@pytest.mark.parametrize("case", CLOSED)
def test_what_cannot_be_traced_is_refused_before_the_program_starts(
    case: str, tmp_path: Path
) -> None:
    runtime, why = CLOSED[case]
    program = MPIS["openmpi-4"].build("sends.c")
    image = make_image(tmp_path, program, has_mount_points=False)
    inside = runtime(image, "/opt/started", options=())
    (image / "opt" / "started").write_text("#!/bin/sh\necho ran\n")
    (image / "opt" / "started").chmod(0o755)

    with pytest.raises(fl.NoTraceError, match=f"not traced: .*{why}.*nothing was started"):
        MPIS["openmpi-4"].trace(2, *inside)


def test_a_run_goes_on_as_the_launcher_alone_where_nothing_gets_in(
    tmp_path: Path, invented_hosts: None
) -> None:
    program = MPIS["openmpi-4"].build("where.c")
    image = make_image(tmp_path, program, has_mount_points=False)
    Path("hosts").write_text("alpha slots=1\nbeta slots=1\n")
    words = by_charliecloud(image, "/bin/sh", "-c", "echo ran; exit 7")
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-m", "fairlead", "run", "--mpirun", "mpirun.openmpi", "-n", "2",
         "--hostfile", "hosts", "--", *words],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 7, done.stderr
    assert done.stdout == "ran\nran\n"
    line = done.stderr.index("it runs as the launcher alone starts it")
    assert "ch-run: the program inside is not traced" in done.stderr[:line]
    assert "ERROR: ld.so" not in done.stderr
