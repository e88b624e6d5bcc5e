# SPDX-License-Identifier: Apache-2.0
"""Where the user's launcher places the ranks by itself, and the slots that it has: observed."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fairlead.act.launch import HostedRank, Launcher, LaunchSpec, has_placing_option, observe_hosts
from fairlead.decide.placement.filling import fill_by_slot
from fairlead.errors import Error, InputError
from fairlead.files.scratch import scratch_folder
from fairlead.measure.observed_launcher import (
    Observed,
    observed_path,
    recall_observed,
    remember_observed,
)
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator

__all__ = ["Observe", "ObservedLauncher", "observe_launcher"]

Observe = Callable[[Launcher, LaunchSpec], Sequence[HostedRank]]
"""Host and CPUs of each rank that the launcher starts for a spec."""


class ObservedLauncher(NamedTuple):
    """What the launcher does by itself.

    Attributes:
        cluster: The hosts, with the slots that it has.
        placement: Its placement.
        cpus_of_rank: CPUs of each rank, in the form of cpuset(7); empty where they are not known.
    """

    cluster: Cluster
    placement: Placement
    cpus_of_rank: tuple[str, ...] = ()


def observe(launcher: Launcher, spec: LaunchSpec) -> list[HostedRank]:
    """Start a tiny program and collect host and CPUs of each rank.

    Raises:
        Error: The launcher failed, or the ranks' hosts cannot be distinguished.
    """
    with scratch_folder("fairlead-observe-") as folder:
        return observe_hosts(launcher, spec, folder)


def observe_launcher(
    launcher: Launcher,
    cluster: Cluster,
    num_ranks: int,
    launcher_args: Sequence[str],
    narrator: Narrator,
    *,
    max_age_s: float,
    observe: Observe = observe,
) -> ObservedLauncher:
    """The placement by the launcher's own start, and the cluster with the slots that it has.

    Where hosts have more ranks than slots, because the launcher was asked to oversubscribe, their
    slots are raised: a placement may use what the launcher uses. Where the user's arguments place
    ranks (two on each host), no host gets more of them than the launcher gives to one.

    Args:
        launcher: The user's launcher.
        cluster: The hosts, as the user named them.
        num_ranks: Number of ranks.
        launcher_args: The user's own arguments for the launcher.
        narrator: Gets a line where nothing could be observed.
        max_age_s: An earlier observation under the same conditions is used up to this age.
        observe: What starts the launcher.

    Raises:
        TopologyError: The ranks do not fit, by the launcher's own word.
    """
    spec = LaunchSpec(("true",), num_ranks, cluster, launcher_args=tuple(launcher_args))
    kept = observed_path(launcher, cluster, num_ranks, launcher_args)
    found = recall_observed(kept, max_age_s)
    if found is None:
        try:
            slots = _slots(launcher, spec, observe)
            ranks = observe(launcher, spec)
            found = Observed(
                slots=slots,
                host_of_rank=[rank.host for rank in ranks],
                cpus_of_rank=[rank.cpus for rank in ranks],
            )
        except Error as error:
            return _assume(cluster, num_ranks, str(error), narrator)
        with contextlib.suppress(InputError):  # Else it is observed again, in about a second.
            remember_observed(kept, found)
    most = max(Counter(found.host_of_rank).values())
    roomy = _with_slots(cluster, found, most if has_placing_option(launcher_args) else None)
    placement = _placement(cluster, found.host_of_rank)
    return ObservedLauncher(roomy, placement, tuple(found.cpus_of_rank))


def _slots(launcher: Launcher, spec: LaunchSpec, observe: Observe) -> dict[str, int]:
    """Slots of the hosts whose slots the user did not give."""
    cluster = spec.cluster
    assert cluster is not None
    if not cluster.bare_hosts:
        return {}
    if launcher.family == "openmpi":  # Without a number of ranks it starts one for each slot.
        ranks = observe(launcher, dataclasses.replace(spec, num_ranks=None))
        return dict(Counter(rank.host for rank in ranks))
    # Hydra goes through the lines again and again, so its hosts have as many as are needed.
    assert spec.num_ranks is not None
    each = math.ceil(spec.num_ranks / cluster.num_slots)
    named = dict(zip(cluster.hosts, cluster.slots, strict=True))
    return {host: each * named[host] for host in cluster.bare_hosts}


def _with_slots(cluster: Cluster, found: Observed, most: int | None) -> Cluster:
    used = Counter(found.host_of_rank)
    slots = [
        max(found.slots.get(host, given), used[host])
        for host, given in zip(cluster.hosts, cluster.slots, strict=True)
    ]
    slots = slots if most is None else [min(number, most) for number in slots]
    return dataclasses.replace(cluster, slots=tuple(slots), bare_hosts=frozenset())


def _placement(cluster: Cluster, host_of_rank: Sequence[str]) -> Placement:
    position = {host: index for index, host in enumerate(cluster.hosts)}
    indices = np.array([position[host] for host in host_of_rank])
    return Placement(cluster.hosts, indices, "launcher", {"how": "observed"})


def _assume(cluster: Cluster, num_ranks: int, why: str, narrator: Narrator) -> ObservedLauncher:
    """Hosts filled in their order, where the launcher could not be observed."""
    try:
        cluster.require_room_for(num_ranks)
    except Error as error:
        raise type(error)(f"{error} (the launcher: {why})") from None
    narrator.report(
        f"launcher's placement: cannot be observed; assuming that hosts are filled in order: {why}"
    )
    ranks = fill_by_slot(cluster, num_ranks)
    # The launcher then gets a list with these slots, so that it does what is assumed.
    assumed = dataclasses.replace(cluster, bare_hosts=frozenset(), given=None, named=())
    placement = Placement(cluster.hosts, ranks, "launcher", {"how": "assumed", "why": why})
    return ObservedLauncher(assumed, placement)
