# SPDX-License-Identifier: Apache-2.0
"""Keeps the binding of ranks: a placed start gives each rank CPUs as the launcher's own start does.

Launchers bind by their own mapping, and lose that where ranks are placed one by one: mpirun of Open
MPI 4.1.4 leaves all ranks on other hosts unbound, that of 5.0.11 binds to a NUMA domain instead of
a core, and Hydra 4.0.2 binds all ranks of a host to the same core. So both starts are observed, and
the CPUs of the launcher's own start are asked for where the other one differs.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fairlead.act.launch.launch_spec import Launcher, LaunchSpec, RankCpus
from fairlead.act.launch.observing import HostedRank, observe_hosts, observe_ranks
from fairlead.errors import LaunchError

__all__ = ["BindingLostError", "with_binding"]

Start = Callable[[LaunchSpec], Sequence[HostedRank]]
"""Starts a tiny program: the host and the CPUs of each rank."""


class BindingLostError(LaunchError):
    """No start of this placement gives the ranks CPUs as the launcher's own start does."""


def with_binding(
    launcher: Launcher,
    placed: LaunchSpec,
    own: Sequence[HostedRank],
    work_dir: Path,
    start: Start | None = None,
) -> LaunchSpec:
    """The placed start, by which each host's ranks have CPUs that the launcher gives there itself.

    Args:
        launcher: The user's launcher.
        placed: A start with cluster and placement.
        own: The launcher's own start of as many ranks; where its CPUs are not known nothing is
            started.
        work_dir: Folder for the launcher's files.
        start: Starts tiny programs; None: by the launcher.

    Raises:
        BindingLostError: There is none; the message has a rank with both its CPU lists.
        LaunchError: The launcher failed.
    """
    if not all(rank.cpus for rank in own):
        return placed
    observe = start or (lambda spec: _observe(launcher, spec, work_dir))
    wanted = _lists_of_host(own)
    lost = _difference(wanted, observe(placed))
    if lost is None:
        return placed
    assert placed.placement is not None
    hosts = placed.placement.host_names()
    if any(len(wanted.get(host, ())) < number for host, number in Counter(hosts).items()):
        assert placed.cluster is not None
        all_slots = dataclasses.replace(placed, placement=None, num_ranks=placed.cluster.num_slots)
        wanted = _lists_of_host(observe(all_slots))
    for candidate in _starts_with(placed, _cpus_of_rank(wanted, hosts)):
        try:
            if _difference(wanted, observe(candidate)) is None:
                return candidate
        except LaunchError:  # Not every launcher takes these lists, and not every host has taskset.
            continue
    raise BindingLostError(lost)


def _observe(launcher: Launcher, spec: LaunchSpec, work_dir: Path) -> list[HostedRank]:
    if spec.placement is None:
        return observe_hosts(launcher, spec, work_dir)
    ranks = observe_ranks(launcher, spec, work_dir)
    hosts = spec.placement.host_names()
    return [HostedRank(host, rank.cpus) for host, rank in zip(hosts, ranks, strict=True)]


def _lists_of_host(ranks: Sequence[HostedRank]) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for rank in ranks:
        lists.setdefault(rank.host, []).append(rank.cpus)
    return lists


def _difference(wanted: Mapping[str, Sequence[str]], seen: Sequence[HostedRank]) -> str | None:
    """What differs from the launcher's own start; None where nothing does."""
    for host, lists in _lists_of_host(seen).items():
        own = wanted.get(host, [])
        # Where all ranks share the same CPUs, further ones share them, too.
        is_shared = len(set(own)) == 1 and len(own) > 1 and set(lists) == set(own)
        if not is_shared and Counter(lists) - Counter(own):
            theirs = f"CPUs {own[0]}" if own else "none"
            return f"a rank on {host} has CPUs {lists[0]}, by the launcher {theirs}"
    return None


def _cpus_of_rank(wanted: Mapping[str, Sequence[str]], hosts: Sequence[str]) -> tuple[str, ...]:
    """The list of each rank; empty where the launcher starts fewer ranks on its host."""
    left = {host: iter(lists) for host, lists in wanted.items()}
    return tuple(next(left.get(host, iter(())), "") for host in hosts)


def _starts_with(placed: LaunchSpec, cpus_of_rank: tuple[str, ...]) -> Iterator[LaunchSpec]:
    if not all(cpus_of_rank):
        return
    for by_program in (False, True):
        yield dataclasses.replace(placed, cpus=RankCpus(cpus_of_rank, by_program=by_program))
