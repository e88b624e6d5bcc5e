# SPDX-License-Identifier: Apache-2.0
"""Sessions as `prepare` leaves them, of inputs that a test names."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import Request
from fairlead.measure.probe_program import ProbeProgram
from fairlead.narrator import Narrator

OPEN_MPI = OpenMpi4(Path("mpirun"), (4, 1, 4))


def even_network(num_hosts: int) -> fl.Network:
    """Hosts a, b, ..., all alike."""
    hosts = [chr(ord("a") + host) for host in range(num_hosts)]
    return fl.Network(hosts, np.zeros((num_hosts,) * 2), np.full((num_hosts,) * 2, 1e8))


def session_of(
    folder: Path,
    program: TracedProgram,
    *,
    network: fl.Network | None = None,
    slots: int = 1,
    request: Request | None = None,
    launcher: Launcher = OPEN_MPI,
    launchers: fl.Placement | None = None,
    narrator: Narrator | None = None,
    probe_s: float = 0.0,
) -> Session:
    """A session whose record is in `folder`; by default each host has one rank.

    The history is read from the folder that the environment names, and has a traced run.
    """
    network = even_network(2) if network is None else network
    narrator = Narrator() if narrator is None else narrator
    num_ranks = program.traffic.num_ranks
    cluster = fl.Cluster.uniform(network.hosts, slots) if request is None else request.cluster
    request = Request(("./solver",), num_ranks, cluster) if request is None else request
    if launchers is None:
        host_of_rank = np.arange(num_ranks) // cluster.slots[0] % cluster.num_hosts
        launchers = fl.Placement(cluster.hosts, host_of_rank, "launcher")
    directory = RunDirectory(folder, narrator.report)
    log = RunLog(request, launcher, launchers, cluster, directory=directory, narrator=narrator)
    log.add_traced_run(program.seconds)
    return Session(
        *(request, narrator, ProbeProgram(launcher), cluster, network, program, launchers),
        directory=directory,
        log=log,
        probe_s=probe_s,
    )
