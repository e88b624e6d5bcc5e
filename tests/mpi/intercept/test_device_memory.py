# SPDX-License-Identifier: Apache-2.0
"""Buffers in the memory of a GPU are left to the MPI (programs/device_buffers.c).

The GPU is invented: its memory is pages that the processor must not touch, its runtime is a library
that is named as CUDA's, HIP's or Level Zero's and has their functions, and a library below Fairlead
makes the MPI GPU-aware.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import relaying
import test_collectives
from tracing import PROGRAMS, TracedMpi, compiled, headers_of

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find

pytestmark = [pytest.mark.mpi]

RUNTIMES = {
    "libcuda.so.1": "AS_CUDA",
    "libamdhip64.so.6": "AS_HIP",
    "libze_loader.so.1": "AS_LEVEL_ZERO",
}
SOURCE = "device_buffers.c"
SOURCES = PROGRAMS / "device_buffers"
RIGHT = re.compile(r"right: (\d+) collectives, (\d+) messages, (\d+) errors\n")
NUM_RANKS = 4


def build_program(mpi: TracedMpi) -> Path:
    """The program, linked with what makes its MPI GPU-aware."""
    library = [mpi.compilers[".c"], "-O1", "-shared", "-fPIC"]
    aware = compiled(library, [SOURCES / "gpu_aware_mpi.c"], depends_on=headers_of(SOURCE))
    return mpi.build(SOURCE, "-Wl,--no-as-needed", str(aware))


def build_runtime(mpi: TracedMpi, name: str, folder: Path) -> Path:
    """The runtime that has this name."""
    command = [mpi.compilers[".c"], "-O1", "-shared", "-fPIC", f"-D{RUNTIMES[name]}"]
    built = compiled(command, [SOURCES / "runtime.c"], depends_on=headers_of(SOURCE))
    return Path(shutil.copy(built, folder / name))


def preload_variables(mpi: TracedMpi, plan: Path) -> dict[str, str]:
    library = find(detect(mpi.mpirun)).intercept
    return {"LD_PRELOAD": str(library), "FAIRLEAD_PLAN": str(plan)}


def run(mpi: TracedMpi, *words: Path | str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program with each rank on a host of its own."""
    spec = mpi.spec(NUM_RANKS, test_collectives.ON_HOSTS, "a,b,c,d", *words, **env)
    command = detect(mpi.mpirun).prepare_command(spec, Path("/nonexistent"))
    return subprocess.run(command, capture_output=True, text=True, check=False)


STAY_NATIVE = "fairlead: collectives stay the MPI's own: a process may use memory of a GPU"


def calls_with_device_memory(
    done: subprocess.CompletedProcess[str], expected_line: str = ""
) -> tuple[int, int]:
    """Collectives and messages with a GPU's memory that the MPI was given; all were right."""
    found = RIGHT.fullmatch(done.stdout)
    assert found is not None, done.stdout + done.stderr
    assert (done.returncode, test_collectives.library_lines(done)) == (0, expected_line)
    assert found[3] == "0"
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_collectives_with_device_memory_are_the_mpis_own(
    mpi: TracedMpi, runtime: str, tmp_path: Path
) -> None:
    program = build_program(mpi)
    words = (str(build_runtime(mpi, runtime, tmp_path)), "first", "collectives")
    plan = test_collectives.write_plan(tmp_path, NUM_RANKS, test_collectives.forcing())

    native = run(mpi, program, *words)
    done = run(mpi, program, *words, **preload_variables(mpi, plan))

    assert calls_with_device_memory(done, STAY_NATIVE) == calls_with_device_memory(native)


# A runtime that is loaded, and has made no context: MPIs look for devices by it.
@pytest.mark.parametrize(("turn", "when"), [(0, "late"), (1, "late"), (0, "unused")])
def test_collectives_with_device_memory_of_a_runtime_that_is_used_late(
    mpi: TracedMpi, turn: int, when: str, tmp_path: Path
) -> None:
    program = build_program(mpi)
    words = (str(build_runtime(mpi, "libcuda.so.1", tmp_path)), when, "collectives")
    plan = test_collectives.write_plan(tmp_path, NUM_RANKS, test_collectives.forcing(turn))

    done = run(mpi, program, *words, **preload_variables(mpi, plan))

    num_collectives, num_messages = calls_with_device_memory(done)
    assert num_collectives == 0  # They followed schedules, in the memory of the host.
    assert num_messages > 0


@pytest.mark.parametrize(
    ("runtime", "when"),
    [*((name, "first") for name in RUNTIMES), ("libcuda.so.1", "late")],
)
def test_messages_with_device_memory_at_either_end_arrive(
    mpi: TracedMpi, runtime: str, when: str, tmp_path: Path
) -> None:
    program = build_program(mpi)
    words = (str(build_runtime(mpi, runtime, tmp_path)), when, "messages")

    with relaying.running(NUM_RANKS) as routers:
        relaying.write_plan(tmp_path, routers, 1024)
        done = subprocess.run(
            relaying.command(mpi, NUM_RANKS, tmp_path, program, *words),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        were_relayed = routers.all_forward()

    assert calls_with_device_memory(done)[1] > 0
    assert were_relayed
