# SPDX-License-Identifier: Apache-2.0
"""A program whose hosts cannot be measured starts as by its scheduler alone, with all its input."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch import HostedRank, Launcher, LaunchSpec
from fairlead.act.launch.flux import Flux
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.errors import ProbeError
from fairlead.flows.inputs.prepare import Steps, prepare
from fairlead.flows.request import Request
from fairlead.flows.run import flow
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.trace import TracedRun

MPI = ProgramMpi("openmpi", (4, 1, 4), "openmpi-4", Path("libmpi.so.40"))


class Direct(Flux):
    """A scheduler's launcher that starts the program itself, once."""

    def check(self, spec: LaunchSpec) -> None:
        del spec

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        del work_dir
        return list(spec.program)


@contextlib.contextmanager
def standard_input(text: bytes) -> Iterator[None]:
    """What this process reads, as of a shell's pipe."""
    kept = os.dup(0)
    out, into = os.pipe()
    os.write(into, text)
    os.close(into)
    os.dup2(out, 0)
    os.close(out)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def trace(
    _launcher: Launcher, _spec: LaunchSpec, *, stdin: int, created: tuple[str, ...] = (), **_: Any
) -> TracedRun:
    while os.read(stdin, 100):
        pass
    return TracedRun(fl.Traffic(np.eye(2), np.eye(2)), 1.0, created)


def observe(_launcher: Launcher, spec: LaunchSpec) -> list[HostedRank]:
    assert spec.cluster is not None
    return [HostedRank(host, "0") for host in spec.cluster.hosts]


def fail(*_all: Any, **_more: Any) -> fl.Network:
    raise ProbeError("no pair of hosts answers")


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Steps(
        unreachable_hosts=lambda *_all, **_more: {},
        probe=fail,
        trace=trace,
        observe=observe,
        find=lambda _launcher: SimpleNamespace(),
    )


def run(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """Traced first, on hosts that cannot be measured then; the program copies its input."""
    launcher = Direct(Path("flux"), (0, 88), MPI)
    monkeypatch.setattr(flow, "probe_program_for", lambda _request: ProbeProgram(launcher))
    monkeypatch.setattr(flow, "prepare", partial(prepare, steps=steps))
    program = ("sh", "-c", "cat > copied")
    request = Request(program, 2, fl.Cluster(("a", "b"), (1, 1)), first="twice")
    narrator = RecordingNarrator()
    with standard_input(b"all of it\n"):
        code = flow.run(request, narrator, lambda _announcement: None)
    return code, narrator.lines


def test_it_reads_from_its_beginning_what_the_traced_run_has_read(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, lines = run(steps, monkeypatch)

    assert code == 0
    assert (tmp_path / "copied").read_text() == "all of it\n"
    assert (
        "nothing is placed: no pair of hosts answers; the program starts as flux run" in lines[-1]
    )


def test_it_is_not_started_again_where_that_would_fail(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changed = dataclasses.replace(steps, trace=partial(trace, created=("result",)))

    code, lines = run(changed, monkeypatch)

    assert code == 0
    assert not (tmp_path / "copied").exists()
    assert lines[-2] == "nothing is placed: no pair of hosts answers"
    assert lines[-1].startswith("not starting the program again: it created result exclusively")
