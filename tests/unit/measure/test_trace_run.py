# SPDX-License-Identifier: Apache-2.0
"""trace(): where the program's output goes, and what is said when there is no trace."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairlead as fl
from fairlead.act.launch import LaunchSpec
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.mpi_builds import MpiBuild
from fairlead.measure.trace import trace

BUILD = MpiBuild(Path("/built"), "openmpi-4", "openmpi", (4, 1, 4), Path("/mpicxx"))


class Direct(OpenMpi4):
    """Starts the program itself, once."""

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        del work_dir
        return ["env", f"FAIRLEAD_TRACE={spec.env['FAIRLEAD_TRACE']}", *spec.program]


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def trace_script(script: str, log: Path | None = None, stdout: int = 1) -> None:
    launcher = Direct(Path("mpirun"), (4, 1, 4))
    trace(
        launcher,
        LaunchSpec(("sh", "-c", script), 2),
        log=log,
        stdout=stdout,
        find=lambda _launcher: BUILD,
    )


def test_output_is_seen_and_logged_while_the_program_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    # Without line ends: progress in percent, or a question, does not have them.
    wait_for = "; until grep -q {} log; do sleep 0.01; done; "
    script = "printf out" + wait_for.format("out") + "printf err >&2" + wait_for.format("err")

    with pytest.raises(fl.TraceError, match="left no trace: it is no MPI program"):
        trace_script(script, log)

    assert log.read_text() == "outerr"
    assert capfd.readouterr() == ("out", "err")


def test_output_goes_where_it_is_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(fl.TraceError):
        trace_script("echo out", stdout=2)
    assert capfd.readouterr() == ("", "out\n")


def test_what_the_library_said_is_the_reason(capfd: pytest.CaptureFixture[str]) -> None:
    script = "echo other >&2; echo 'fairlead: t: cannot be written: No space left' >&2; echo out"

    with pytest.raises(fl.TraceError) as caught:
        trace_script(script)

    reason = "t: cannot be written: No space left"
    assert str(caught.value) == f"sh: the traced run left no trace: {reason}"
    assert capfd.readouterr() == (
        "out\n", "other\nfairlead: t: cannot be written: No space left\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("true", "it is no MPI program"),
        ("echo 'fairlead: disk full' >&2", "disk full"),
        ('echo half > "$FAIRLEAD_TRACE"', "left an unusable trace"),
    ],
)
def test_a_program_that_succeeded_never_fails_for_its_trace(script: str, reason: str) -> None:
    with pytest.raises(fl.NoTraceError, match=reason):
        trace_script(script)


def test_exit_code_and_log_are_named(tmp_path: Path) -> None:
    problem = f"exit code 3; why; its output is in {tmp_path}/log"
    with pytest.raises(fl.TraceError, match=problem) as caught:
        trace_script("echo 'fairlead: why' >&2; exit 3", tmp_path / "log")
    assert caught.value.exit_code == 3
