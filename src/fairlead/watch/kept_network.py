# SPDX-License-Identifier: Apache-2.0
"""Checks a kept network before it is used again, and measures anew where it has drifted."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fairlead.errors import Error, InputError, ProbeError
from fairlead.measure import profile_cache
from fairlead.measure.long_trains import measure_with_long_trains
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.profile_cache import Profile
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.narrator import Narrator
from fairlead.units import format_duration
from fairlead.watch.drift import (
    DRIFT_RATIO,
    choose_hosts,
    find_drifted_pairs,
    pairs_to_measure_again,
)

__all__ = ["refresh"]

Mask = npt.NDArray[np.bool_]

CHECK_S = 0.2
"""Most time for the few pairs of a check."""

AGAIN_S = 1.0
"""Most time for the pairs of hosts that have drifted."""


def refresh(
    profile: Profile,
    cluster: Cluster,
    narrator: Narrator,
    program: ProbeProgram,
    measure: Callable[..., Network | None] = measure_with_long_trains,
) -> Network | None:
    """The kept network as it is now, or None where it has to be measured as a whole.

    Args:
        profile: The kept profile; later measurements are compared with its `by_long_trains`.
        cluster: Its hosts.
        narrator: Reports it to the user.
        program: The measuring program.
        measure: Measures chosen pairs; as `fairlead.measure.long_trains.measure_with_long_trains`.
    """
    if profile.by_long_trains is None:
        narrator.report("network: using the cached profile of these hosts")
        return profile.network

    def measure_all(part: Cluster, pairs: Mask, pairs_s: float) -> Network:
        found = measure(program, part, pairs, pairs_s)
        if found is None:
            raise ProbeError("a host does not answer")
        return found

    try:
        drifted = _find_drifted(profile.by_long_trains, cluster, narrator, measure_all)
        if not drifted.any():
            return profile.network
        found = measure_all(cluster, pairs_to_measure_again(drifted), AGAIN_S)
        if not find_drifted_pairs(profile.by_long_trains, found).any():
            narrator.report("network: re-measured, unchanged: using the cached profile")
            return profile.network
    except Error as error:
        narrator.report(f"network: the cached profile cannot be checked and is not used: {error}")
        return None
    network, by_long_trains = (
        profile.network.with_measurements(found),
        profile.by_long_trains.with_measurements(found),
    )
    if network.flows is None:
        # Interfaces that a decision has measured have changed as well.
        network = dataclasses.replace(network, nic_out_Bps=None, nic_in_Bps=None)
    try:
        profile_cache.renew(Profile(profile.path, network, by_long_trains))
    except InputError as error:
        narrator.report_loss(str(error))
    return network


def _find_drifted(
    by_long_trains: Network,
    cluster: Cluster,
    narrator: Narrator,
    measure: Callable[[Cluster, Mask, float], Network],
) -> Mask:
    """Pairs of a few hosts that have drifted, shape (H, H)."""
    started = time.monotonic()
    places = choose_hosts(by_long_trains, seed=int(time.time()))
    part = cluster.select([cluster.hosts[host] for host in places])
    before = by_long_trains.select(part.hosts)
    pairs = np.isfinite(before.bandwidth_Bps)
    is_drifted = find_drifted_pairs(before, measure(part, pairs | pairs.T, CHECK_S))
    all_drifted = np.zeros((cluster.num_hosts, cluster.num_hosts), dtype=bool)
    all_drifted[np.ix_(places, places)] = is_drifted
    spent = f"{part.num_hosts} hosts checked in {format_duration(time.monotonic() - started)}"
    if is_drifted.any():
        named = ", ".join(cluster.hosts[host] for host in np.flatnonzero(all_drifted.any(axis=0)))
        narrator.report(
            f"network: {named} changed by more than {DRIFT_RATIO:.0%} since the cached profile "
            f"({spent}); re-measuring their pairs"
        )
    else:
        narrator.report(f"network: the cached profile of these hosts is still valid ({spent})")
    return all_drifted
