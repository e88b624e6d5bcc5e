# SPDX-License-Identifier: Apache-2.0
"""`fairlead trace` writes one file that the other commands read, or says in one line why not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.traffic import Traffic
from fairlead.report.traffic_view import summary_lines

pytestmark = [pytest.mark.mpi]

MPIRUN = "mpirun.mpich"


def fairlead(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairlead", "trace", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def stencil() -> str:
    return str(find(detect(MPIRUN)).example("stencil"))


def test_the_file_holds_what_the_summary_says(tmp_path: Path, stencil: str) -> None:
    done = fairlead(
        tmp_path, "-n", "2", "--mpirun", MPIRUN, "--", stencil, "--size", "8", "--steps", "20"
    )

    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stdout
    traffic = Traffic.load(tmp_path / "stencil.traffic.npz")
    assert f"in {int(traffic.messages.sum()):,} messages" in done.stdout
    assert traffic.messages.toarray()[0, 1] == traffic.messages.toarray()[1, 0] >= 20
    assert traffic.origin["arguments"] == ["--size", "8", "--steps", "20"]
    assert [path.name for path in tmp_path.iterdir()] == ["stencil.traffic.npz"]


def test_json_alone_is_on_stdout(tmp_path: Path, stencil: str) -> None:
    file = tmp_path / "a.traffic.npz"
    done = fairlead(
        tmp_path, "-n", "2", "--mpirun", MPIRUN, "--json", "-o", str(file), "--", stencil,
        "--size", "8", "--steps", "20",
    )  # fmt: skip

    result = json.loads(done.stdout)
    assert result["file"] == str(file)
    assert result["point_to_point"]["bytes"] == Traffic.load(file).bytes.sum()
    assert "PASSED" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "2", "--", "./gone"], "fairlead: ./gone: no such program"),
        (
            ["-n", "2", "--", "touch", "ran", ":", "-n", "2", "touch", "ran"],
            "fairlead: the argument ':' starts another program (MPMD), which Fairlead does not",
        ),
        (
            ["-n", "2", "--launcher-args", "--app programs", "--", "touch", "ran"],
            "fairlead: launcher argument '--app' starts another program (MPMD)",
        ),
        (
            ["-n", "2", "--launcher-args", "true :", "--", "touch", "ran"],
            "fairlead: launcher argument ':' starts another program (MPMD)",
        ),
        (["-n", "2", "--", "true"], "fairlead: true: the traced run left no trace"),
        (["-n", "2", "--", "false"], "fairlead: false: failed in the traced run with exit code 1"),
        (["-n", "2", "-o", "no/a.traffic.npz", "--", "true"], "no/a.traffic.npz: cannot be"),
        (["-n", "2", "--hostfile", "none", "--", "true"], "fairlead: none: "),
    ],
)
def test_trouble_is_one_line_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = fairlead(tmp_path, "--mpirun", MPIRUN, *arguments)

    said = [line for line in done.stderr.splitlines() if line.startswith("fairlead: ")]
    assert done.returncode == 1
    assert len(said) == 1 and message in said[0]
    assert list(tmp_path.iterdir()) == []


def test_the_programs_own_exit_code_is_passed_on(tmp_path: Path) -> None:
    script = "echo no such input >&2; exit 7"
    done = fairlead(tmp_path, "-n", "2", "--mpirun", MPIRUN, "--", "sh", "-c", script)
    assert done.returncode == 7
    assert "no such input\n" in done.stderr
    assert "fairlead: sh: failed in the traced run with exit code 7\n" in done.stderr


def test_wrong_usage_exits_with_2(tmp_path: Path) -> None:
    assert fairlead(tmp_path, "-n", "0", "--", "true").returncode == 2


def test_long_times_are_printed_without_exponents() -> None:
    calls = [CollectiveCall("allreduce", 2, 8, 10, 7200.0)]
    pairs = np.ones((2, 2))
    traffic = Traffic(pairs, pairs, run_time_s=3540.0, collectives=calls)

    said = summary_lines(traffic)

    assert said[0] == "2 ranks ran for 59 min"
    assert said[-1] == "allreduce of 8 B on 2 ranks: 10 calls, 2 h over all ranks"
