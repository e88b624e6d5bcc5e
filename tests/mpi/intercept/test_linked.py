# SPDX-License-Identifier: Apache-2.0
"""A program that is linked with the library's object, as a simulation by SMPI needs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tracing import PROGRAMS, compiled, headers_of

import fairlead as fl
from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.measure.trace_file import read_trace

pytestmark = [pytest.mark.mpi]

NUM_RANKS = 4
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{NUM_RANKS - 1}" speed="1Gf" bw="125MBps"
           lat="50us"/>
</platform>
"""


@pytest.fixture(scope="module")
def linked_object() -> Path:
    """What the build of the C++ tests makes by SimGrid's compiler wrapper."""
    root = Path(__file__).parents[3]
    found = list((root / "build" / "cpp-tests" / "_mpi").glob("smpi-*/lib/fairlead_intercept.o"))
    assert found, "not built: make .venv/stamps/cpp-tests"
    return found[0]


def simulated(
    linked_object: Path, folder: Path, *words: str, source: str = "simulated.c", **env: str
) -> subprocess.CompletedProcess[str]:
    """A run of a program, linked with the object, on hosts h0, h1, ..."""
    sources = [PROGRAMS / source, linked_object]
    compiler = ["smpicc"] if source.endswith(".c") else ["smpicxx", "-std=c++20"]
    # It needs the C++ library, which stands before the object on the linker's command line.
    flags = ["-O1", "-DSMPI_NO_OVERRIDE_MALLOC", "-Wl,--no-as-needed", "-lstdc++"]
    program = compiled([*compiler, *flags], sources, depends_on=headers_of(source))
    (folder / "platform.xml").write_text(PLATFORM, encoding="utf-8")
    hosts = "".join(f"h{host}\n" for host in range(NUM_RANKS))
    (folder / "hosts").write_text(hosts, encoding="utf-8")
    command = [
        *("smpirun", "-np", str(NUM_RANKS), "-platform", folder / "platform.xml"),
        *(
            "-hostfile",
            folder / "hosts",
            "--log=root.t:error",
            "--cfg=smpi/simulate-computation:no",
        ),
        program,
        *words,
    ]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )


def test_a_simulated_program_is_traced(linked_object: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace"

    done = simulated(linked_object, tmp_path, FAIRLEAD_TRACE=str(file))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "sum 12" in done.stdout
    traffic = read_trace(file)
    ring = np.roll(np.eye(NUM_RANKS), 1, axis=1)
    np.testing.assert_array_equal(traffic.bytes.toarray(), 1000 * ring)
    np.testing.assert_array_equal(traffic.messages.toarray(), 2 * ring)
    assert [(call.operation, call.calls) for call in traffic.collectives] == [("allreduce", 4)]


def test_times_are_those_of_the_simulation(linked_object: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace"

    simulated(linked_object, tmp_path, FAIRLEAD_TRACE=str(file))

    # Each of the four steps takes a latency or two of 50 us between two hosts' links.
    assert 1e-4 < read_trace(file).run_time_s < 1e-2


def test_its_collectives_follow_the_plan(linked_object: Path, tmp_path: Path) -> None:
    hosts = [f"h{host}" for host in range(NUM_RANKS)]
    far = ~np.eye(NUM_RANKS, dtype=bool)
    out_of_a_rack = np.argwhere(far & (np.arange(NUM_RANKS)[:, None] < 2))
    uplink = [fl.BottleneckGroup(out_of_a_rack[out_of_a_rack[:, 1] >= 2], 1e8)]
    network = fl.Network(hosts, np.where(far, 5e-5, 0.0), np.where(far, 1e8, np.inf), groups=uplink)
    write_network_plan(tmp_path, network)
    rules = [
        {"operation": operation, "min_bytes": 0, "max_bytes": None, "hosts": None,
         "method": fl.collectives.methods_for(operation)[-1]}
        for operation in fl.collectives.OPERATIONS
    ]  # fmt: skip
    fields = {"num_ranks": NUM_RANKS, "is_reproducible": False, "rules": rules}
    write_plan_file(tmp_path, "collectives.json", fields, 2)

    native, *planned = (
        simulated(
            linked_object, tmp_path, "reals", "1000", source="collectives.cpp", FAIRLEAD_PLAN=plan
        )
        for plan in ("", str(tmp_path), str(tmp_path))
    )

    # Sums of another order have other last bits, and the same on every run.
    assert [done.returncode for done in planned] == [0, 0], planned[0].stdout + planned[0].stderr
    assert planned[0].stdout == planned[1].stdout != native.stdout
    assert planned[0].stdout.startswith("bits ")
    assert "fairlead" not in planned[0].stderr


def test_it_runs_as_without_the_object_where_nothing_is_switched_on(
    linked_object: Path, tmp_path: Path
) -> None:
    done = simulated(linked_object, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "sum 12" in done.stdout
    assert "fairlead" not in done.stderr
