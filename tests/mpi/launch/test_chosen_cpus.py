# SPDX-License-Identifier: Apache-2.0
"""Real launchers give ranks chosen CPUs; messages between them are rehearsed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launchers import ALL_LAUNCHERS, MPIS
from synthetic_hosts import synthetic_inside

import fairlead as fl
from fairlead.act.launch import LaunchSpec, RankCpus, detect, with_chosen_cpus
from fairlead.measure.inside_rehearsal import rehearse_places
from fairlead.measure.probe import probe
from fairlead.model.host_inside import LevelRate

pytestmark = pytest.mark.mpi

HOSTS = ("alpha", "beta")
CLUSTER = fl.Cluster(HOSTS, (4, 4))


@pytest.fixture(autouse=True)
def hosts_with_names(invented_hosts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each host has its own name, so that its ranks can be distinguished.
    monkeypatch.setenv("FAKE_UTS", "yes")


def pairs() -> fl.Traffic:
    """Ranks 0 and 1, 2 and 3, ... talk to each other."""
    sent = np.kron(np.eye(4), np.array([[0, 1e7], [1e7, 0]]))
    return fl.Traffic(sent, sent / 1e5)


@pytest.mark.parametrize("mpi", ALL_LAUNCHERS)
@pytest.mark.parametrize("host_of_rank", [(0, 0, 1, 1), (1, 0, 0, 1)])
def test_ranks_have_the_cpus_that_were_chosen(
    mpi: str, host_of_rank: tuple[int, ...], tmp_path: Path
) -> None:
    launcher = detect(ALL_LAUNCHERS[mpi].mpirun)
    placement = fl.Placement(HOSTS, np.array(host_of_rank), "optimize")
    spec = LaunchSpec(("true",), 4, CLUSTER, placement)
    # The first rank of each host has the second CPU: one list would do for both.
    lists = ("1", "0", "1", "0") if host_of_rank[0] == 0 else ("1", "1", "0", "0")

    found = with_chosen_cpus(launcher, spec, lists, tmp_path)

    assert found.cpus is not None
    assert found.cpus.lists == lists
    # Hydra binds neighbours only, so that taskset has to do it.
    assert found.cpus.by_program == (mpi == "mpich-4" and host_of_rank[0] == 1)


def test_probe_reads_the_inside_of_hosts_and_rehearses_places_in_them() -> None:
    launcher = detect(MPIS["openmpi-4"].mpirun)
    placement = fl.Placement(HOSTS, np.repeat([0, 1], 4), "optimize")

    network = probe(launcher, CLUSTER)
    steps_s = rehearse_places(
        placement, RankCpus(("0", "1") * 4, by_program=False), ("0", "0", "1", "1") * 2, pairs(),
        launcher=launcher, cluster=CLUSTER, rehearsal_s=0.3,
    )  # fmt: skip

    for host, inside in network.insides.items():
        assert inside.problem == ""
        assert inside.topology.host_name == host
        assert inside.cpus != ""
    assert steps_s.shape[0] >= 2
    assert steps_s.shape[1] == 2
    assert np.all(steps_s > 0)


def test_run_puts_ranks_that_talk_on_one_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # This machine's two CPUs as two sockets, of which each holds two ranks of a host.
    inside = synthetic_inside("package:2 core:1 pu:1")
    insides = dict.fromkeys(HOSTS, inside)
    assert inside.rates["host"] == LevelRate(4e-7, 5e9)
    fl.Network(
        HOSTS, np.where(np.eye(2), 0, 1e-5), np.where(np.eye(2), np.inf, 1e9), insides=insides
    ).save(tmp_path / "two.net.npz")
    pairs().save(tmp_path / "pairs.traffic.npz")
    report = (
        'echo "rank $OMPI_COMM_WORLD_RANK $(grep Cpus_allowed_list /proc/self/status)"; sleep 1'
    )
    command = [
        *(sys.executable, "-m", "fairlead", "run", "-n", "8", "-H", "alpha:4,beta:4", "--json"),
        *("--mpirun", MPIS["openmpi-4"].mpirun, "--relay", "never", "--tune", "never"),
        *("--launcher-args", "--bind-to core:overload-allowed --map-by core"),
        *("--network", str(tmp_path / "two.net.npz")),
        *("--traffic", str(tmp_path / "pairs.traffic.npz"), "--", "sh", "-c", report),
    ]

    done = subprocess.run(command, capture_output=True, text=True, check=True)

    decided = next(json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))
    lever = decided["features"]["inside"]
    assert lever["is_taken"], done.stderr
    assert lever["saved_share"] > 0.02
    printed = dict(line.split()[1::2] for line in done.stdout.splitlines())
    lists = [printed[str(rank)] for rank in range(8)]
    assert lists == lever["cpus_of_rank"]
    assert lists[0::2] == lists[1::2]
    assert lists[0] != lists[2]
    assert lists[4] != lists[6]
