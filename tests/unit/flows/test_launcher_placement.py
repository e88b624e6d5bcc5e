# SPDX-License-Identifier: Apache-2.0
"""The launcher's placement and slots are what it was seen to do; without that, an assumption."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch import HostedRank, Launcher, LaunchSpec, parse_hostfile
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.flows.inputs.launcher_placement import observe_launcher
from fairlead.model.cluster import Cluster, GivenHosts
from fairlead.model.placement import Placement

OPEN_MPI = OpenMpi4(Path("mpirun"), (4, 1, 4))
MPICH = Mpich(Path("mpiexec"), (4, 0, 2))
BARE = "h0\nh1\nh2\nh3\n"


class Starts:
    """A launcher on hosts of two cores; counts its starts."""

    def __init__(self, *, refuses: str | None = None) -> None:
        self.specs: list[LaunchSpec] = []
        self._refuses = refuses

    def __call__(self, launcher: Launcher, spec: LaunchSpec) -> list[HostedRank]:
        self.specs.append(spec)
        assert spec.cluster is not None
        if self._refuses is not None:
            raise fl.LaunchError(self._refuses)
        slots = [host for host in spec.cluster.hosts for _ in range(2)]
        each = slots if launcher.family == "openmpi" else list(spec.cluster.hosts)
        number = len(slots) if spec.num_ranks is None else spec.num_ranks
        return [HostedRank(each[rank % len(each)], str(rank % 2)) for rank in range(number)]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def seen(
    launcher: Launcher,
    hosts: str,
    num_ranks: int,
    starts: Callable[..., list[HostedRank]],
    **options: float,
) -> tuple[Cluster, Placement, list[str]]:
    narrator = RecordingNarrator()
    given = GivenHosts(Path("/dev/null"))
    cluster = dataclasses.replace(parse_hostfile(hosts, "hosts"), given=given)
    found = observe_launcher(
        launcher,
        cluster,
        num_ranks,
        (),
        narrator,
        observe=starts,
        **({"max_age_s": 60.0} | options),
    )
    return found.cluster, found.placement, narrator.lines


def test_bare_names_have_the_slots_that_open_mpi_fills_by_itself() -> None:
    cluster, placement, lines = seen(OPEN_MPI, BARE, 4, Starts())

    assert cluster.slots == (2, 2, 2, 2)
    assert placement.host_names() == ["h0", "h0", "h1", "h1"]
    assert (placement.method, lines) == ("launcher", [])


def test_hydra_goes_through_bare_names_again_and_again() -> None:
    cluster, placement, _ = seen(MPICH, BARE, 6, Starts())

    assert placement.host_names() == ["h0", "h1", "h2", "h3", "h0", "h1"]
    assert cluster.slots == (2, 2, 2, 2)


def test_slots_are_raised_where_the_launcher_oversubscribes() -> None:
    cluster, placement, _ = seen(OPEN_MPI, "h0 slots=1\nh1 slots=1\n", 4, Starts())

    assert placement.host_names() == ["h0", "h0", "h1", "h1"]
    assert cluster.slots == (2, 2)


def test_more_ranks_than_the_launcher_takes_are_refused_in_its_words() -> None:
    with pytest.raises(
        fl.TopologyError, match=r"4 ranks do not fit.*the launcher: not enough slots"
    ):
        seen(OPEN_MPI, "h0 slots=1\nh1 slots=1\n", 4, Starts(refuses="not enough slots"))


def test_what_cannot_be_observed_is_assumed_and_said() -> None:
    cluster, placement, lines = seen(OPEN_MPI, "h0:2\nh1:2\n", 3, Starts(refuses="no route"))

    assert placement.host_names() == ["h0", "h0", "h1"]
    assert (cluster.slots, cluster.given) == ((2, 2), None)
    assert lines == [
        "launcher's placement: cannot be observed; assuming that hosts are filled in order: "
        "no route"
    ]


def test_an_observation_is_kept_until_something_it_depends_on_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = Starts()
    hosts = "h0 slots=2\nh1 slots=2\n"

    for _ in range(2):
        seen(OPEN_MPI, hosts, 3, starts)
    assert len(starts.specs) == 1

    monkeypatch.setenv("OMPI_MCA_rmaps_base_mapping_policy", "node")
    seen(OPEN_MPI, hosts, 3, starts)
    seen(OPEN_MPI, hosts, 4, starts)
    seen(MPICH, hosts, 4, starts)
    seen(MPICH, hosts, 4, starts, max_age_s=0.0)
    assert len(starts.specs) == 5
