# SPDX-License-Identifier: Apache-2.0
"""Commands that load the network between hosts are seen by other runs on these hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fairlead.cli import app, probe, trace
from fairlead.flows.tune import flow, native
from fairlead.watch.concurrent_runs import announce_run


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher that is Open MPI by its banner, and a store of the user's own."""
    program = tmp_path / "mpirun"
    program.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    program.chmod(0o755)
    monkeypatch.setenv("FAIRLEAD_MPIRUN", str(program))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("FAIRLEAD_LAB_HOSTFILE", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "place", "name"),
    [
        ("probe -H b,a", (probe, "measure"), "probe"),
        ("trace -n 2 -H b,a ./solver", (trace, "trace_program"), "solver"),
        ("tune -n 2 -H b,a", (flow, "find_hosts"), "tune"),
        ("tune -n 2 -H b,a --export ompi", (native, "find_hosts"), "tune"),
    ],
    ids=["probe", "trace", "tune", "tune --export"],
)
def test_another_run_sees_it_while_it_loads_the_network(
    monkeypatch: pytest.MonkeyPatch, words: str, place: tuple[Any, str], name: str
) -> None:
    seen = []

    def load(*_arguments: Any, **_options: Any) -> None:
        with announce_run(["a"], "other") as other:
            seen.extend(other.others())
        raise SystemExit(7)

    monkeypatch.setattr(*place, load)
    done = CliRunner().invoke(app, words.split())

    assert (seen, done.exit_code) == ([name], 7), done.output
    with announce_run(["a"], "other") as other:
        assert other.others() == []


def test_probe_names_the_runs_whose_load_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_arguments: Any, **_options: Any) -> None:
        raise SystemExit(7)

    monkeypatch.setattr(probe, "measure", end)

    with announce_run(["a"], "solver"):
        done = CliRunner().invoke(app, ["probe", "-H", "a,b"])

    assert "another run of yours (solver) has some of these hosts: what is measured" in done.output
