# SPDX-License-Identifier: Apache-2.0
"""What becomes of a kept network when a few of its pairs are measured."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.errors import LaunchError
from fairlead.measure import profile_cache
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.profile_cache import Profile
from fairlead.watch.kept_network import refresh

HOSTS = tuple("abcdef")
CLUSTER = fl.Cluster.uniform(HOSTS, 1)
PROGRAM = ProbeProgram(OpenMpi4(Path("mpirun"), (4, 1, 4)))


def network(bandwidth_Bps: np.ndarray, hosts: Sequence[str] = HOSTS) -> fl.Network:
    num_hosts = len(hosts)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    latency_s = 1e-5 * (1 - np.eye(num_hosts))
    return fl.Network(
        hosts,
        latency_s,
        bandwidth_Bps,
        latency_low_s=latency_s,
        latency_high_s=latency_s,
        bandwidth_low_Bps=bandwidth_Bps * 0.98,
        bandwidth_high_Bps=bandwidth_Bps * 1.02,
        samples=np.full((num_hosts, num_hosts), 12),
    )


class Cloud:
    """Hosts with known rates, and a record of those that were measured."""

    def __init__(self, true_Bps: np.ndarray) -> None:
        self.true_Bps = true_Bps
        self.measured: list[tuple[str, ...]] = []

    def measure(
        self, _program: Any, part: fl.Cluster, pairs: np.ndarray, *_rest: Any
    ) -> fl.Network:
        self.measured.append(part.hosts)
        places = [HOSTS.index(host) for host in part.hosts]
        rates_Bps = self.true_Bps[np.ix_(places, places)].copy()
        rates_Bps[~pairs] = np.nan
        return network(rates_Bps, part.hosts)


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    kept = network(np.full((6, 6), 1e8))
    return Profile(tmp_path / "kept.net.npz", kept, kept)


def test_a_network_that_holds_is_checked_by_three_hosts_and_taken(
    profile: Profile,
) -> None:
    cloud, narrator = Cloud(np.full((6, 6), 1e8)), RecordingNarrator()
    assert refresh(profile, CLUSTER, narrator, PROGRAM, cloud.measure) is profile.network
    assert [len(hosts) for hosts in cloud.measured] == [3]
    assert "still valid (3 hosts checked in " in narrator.lines[0]


def test_only_hosts_that_have_drifted_are_measured_again_and_kept_so(
    profile: Profile,
) -> None:
    # All hosts have become slower, three of them are looked at.
    cloud = Cloud(np.full((6, 6), 5e7))
    now = refresh(profile, CLUSTER, RecordingNarrator(), PROGRAM, cloud.measure)
    assert now is not None
    looked_at = [HOSTS.index(host) for host in cloud.measured[0]]
    others = [host for host in range(6) if host not in looked_at]
    assert now.bandwidth_Bps[looked_at[0], others[0]] == 5e7
    assert now.bandwidth_Bps[others[0], others[1]] == 1e8
    again = profile_cache.recall(profile.path, CLUSTER, 60.0)
    assert again is not None
    assert np.array_equal(again.network.bandwidth_Bps, now.bandwidth_Bps)


def test_what_is_measured_again_leaves_the_age_of_the_rest(profile: Profile) -> None:
    profile_cache.remember(profile)
    half_an_hour_ago = time.time() - 1800
    os.utime(profile.path, (half_an_hour_ago, half_an_hour_ago))
    cloud = Cloud(np.full((6, 6), 5e7))

    refresh(profile, CLUSTER, RecordingNarrator(), PROGRAM, cloud.measure)

    assert profile_cache.recall(profile.path, CLUSTER, 1700.0) is None
    again = profile_cache.recall(profile.path, CLUSTER, 3600.0)
    assert again is not None
    assert 5e7 in again.network.bandwidth_Bps


def test_interfaces_stay_while_pairs_hold_and_are_measured_anew_when_some_drift(
    profile: Profile,
) -> None:
    full = np.full(6, 4e8)
    known = dataclasses.replace(profile.network, nic_out_Bps=full, nic_in_Bps=full)
    kept = dataclasses.replace(profile, network=known)
    profile_cache.remember(kept)
    again = profile_cache.recall(kept.path, CLUSTER, 60.0)
    assert again is not None and again.network.nic_out_Bps is not None

    cloud = Cloud(np.full((6, 6), 1e8))
    holds = refresh(again, CLUSTER, RecordingNarrator(), PROGRAM, cloud.measure)
    assert holds is not None and holds.nic_in_Bps is not None
    cloud.true_Bps = np.full((6, 6), 5e7)
    drifted = refresh(again, CLUSTER, RecordingNarrator(), PROGRAM, cloud.measure)
    assert drifted is not None and drifted.nic_out_Bps is None and drifted.nic_in_Bps is None


def test_what_cannot_be_checked_is_measured_anew(
    profile: Profile,
) -> None:
    narrator = RecordingNarrator()

    def fail(*_arguments: Any) -> fl.Network:
        raise LaunchError("mpirun: no such program")

    assert refresh(profile, CLUSTER, narrator, PROGRAM, fail) is None
    assert "cannot be checked and is not used: mpirun: no such program" in narrator.lines[0]
