# SPDX-License-Identifier: Apache-2.0
"""What was dropped with another network is free again, also where an earlier build dropped it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import OPEN_MPI, session_of

import fairlead as fl
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.inputs.tracing import keep_traffic
from fairlead.flows.request import Request
from fairlead.flows.run.dropped import reconsider_dropped

HOSTS = ("a", "b", "c", "d")
SWAPPED = fl.Placement(HOSTS, np.array([0, 2, 1, 3]), "optimize")
"""Ranks 0 and 1, 2 and 3 talk: by the launcher a with b and c with d, here a with c, b with d."""


def network(rate_of_launchers_pairs: float) -> fl.Network:
    bandwidth_Bps = np.full((4, 4), 1e9)
    for one, other in ((0, 1), (2, 3)):
        bandwidth_Bps[one, other] = bandwidth_Bps[other, one] = rate_of_launchers_pairs
    return fl.Network(HOSTS, np.zeros((4, 4)), bandwidth_Bps)


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session of the build by whose runs, on an even network, the placement was dropped."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    session = session_of_build(tmp_path, "first", network(1e9))
    network(1e9).save(session.directory.file("network.net.npz"))
    for _ in range(3):
        session.log.keep("launcher", None, 10.0)
        session.log.keep("optimize", SWAPPED, 12.0)
    assert session.log.dropped.find_placements() == {tuple(SWAPPED.host_names())}
    return session


def session_of_build(folder: Path, build: str, current: fl.Network) -> Session:
    program = folder / "solver"
    program.write_text(f"#!/bin/sh\n# {build}\n")
    program.chmod(0o755)
    sent = np.kron(np.eye(2), np.array([[0, 1e9], [1e9, 0]]))
    traffic = fl.Traffic(sent, sent / 1e6)
    narrator = RecordingNarrator()
    request = Request((str(program),), 4, fl.Cluster(HOSTS, (1, 1, 1, 1)))
    keep_traffic(request, OPEN_MPI, narrator, {}, traffic)
    return session_of(
        folder / build, TracedProgram(traffic), network=current, request=request, narrator=narrator
    )


def lines_of(session: Session) -> list[str]:
    narrator = session.narrator
    assert isinstance(narrator, RecordingNarrator)
    return narrator.lines


def test_a_placement_stays_dropped_on_the_same_network(dropped: Session) -> None:
    reconsider_dropped(dropped)
    assert lines_of(dropped) == []
    assert dropped.log.dropped.find_placements()


@pytest.mark.parametrize("is_new_build", [False, True])
def test_a_placement_is_free_again_where_the_network_has_changed(
    dropped: Session, tmp_path: Path, is_new_build: bool
) -> None:
    changed = network(1e8)
    session = (
        session_of_build(tmp_path, "second build", changed)
        if is_new_build
        else dataclasses.replace(dropped, network=changed)
    )
    assert session.log.dropped.find_placements()

    reconsider_dropped(session)

    (line,) = lines_of(session)
    assert line.startswith(
        "decision: a placement on which something proved slower is free again: the network has "
        "changed: by its rates the placement saves 90% of the time on it, at its last run 0%"
    )
    assert session.log.dropped.find_placements() == set()
