# SPDX-License-Identifier: Apache-2.0
"""Hosts, a probe and a narrator of a run that is prepared, without processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch import HostedRank, Launcher, LaunchSpec, read_hostfile
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.flows.inputs.prepare import Steps, prepare
from fairlead.flows.inputs.session import PlanFirst, Session
from fairlead.flows.request import (
    NetworkRequest,
    Request,
)
from fairlead.measure.probe_program import ProbeProgram
from fairlead.watch.concurrent_runs import ConcurrentRuns

DEFAULT_NETWORK = NetworkRequest()


class World:
    """Three hosts, a probe that finds a given network, and the lines that were printed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        monkeypatch.delenv("FAIRLEAD_LAB_HOSTFILE", raising=False)
        self.steps = Steps(
            unreachable_hosts=lambda *_all, **_more: {}, probe=self._probe, observe=self._observe
        )
        self.folder = folder
        self.found = network()
        self.probes = 0
        self.narrator = RecordingNarrator()
        (folder / "hosts").write_text("a\nb\nc\n")
        fl.Traffic(bytes=np.eye(2), messages=np.eye(2)).save(folder / "two.traffic.npz")

    def _probe(self, *_arguments: Any, **_options: Any) -> fl.Network:
        self.probes += 1
        return self.found

    def _observe(self, _launcher: Launcher, spec: LaunchSpec) -> list[HostedRank]:
        """A launcher that gives each host one slot, and goes round where more are asked for."""
        assert spec.cluster is not None
        hosts = spec.cluster.hosts
        number = spec.num_ranks or len(hosts)
        return [HostedRank(hosts[rank % len(hosts)], "0") for rank in range(number)]

    def prepare(
        self,
        *program: str,
        network: NetworkRequest = DEFAULT_NETWORK,
        alongside: ConcurrentRuns | None = None,
        plan_first: PlanFirst | None = None,
        **options: Any,
    ) -> tuple[Session, list[str]]:
        narrator = self.narrator = RecordingNarrator()
        hosts = {"cluster": read_hostfile(self.folder / "hosts"), "num_ranks": 2}
        traffic = {"traffic": self.folder / "two.traffic.npz"}
        request = Request(program or ("true",), network=network, **(hosts | traffic | options))
        launcher = OpenMpi4(Path("mpirun"), (4, 1, 4))
        probe_program = ProbeProgram(launcher, request.launcher.arguments)
        session = prepare(
            *(request, narrator, probe_program, self.steps, alongside),
            plan_first=plan_first or (lambda _look: ()),
        )
        return session, narrator.lines


def network(*unmeasured: tuple[int, int], **fields: Any) -> fl.Network:
    latency_s = np.full((3, 3), 1e-5)
    for pair in unmeasured:
        latency_s[pair] = np.nan
    return fl.Network(["a", "b", "c"], latency_s, np.full((3, 3), 1e8), **fields)
