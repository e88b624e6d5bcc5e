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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fairlead.act.launch.launch_spec import Launcher, LaunchSpec, RankCpus
from fairlead.act.launch.observing import Machine, ObservedRank, observe_ranks
from fairlead.errors import LaunchError

__all__ = ["BindingLostError", "with_binding"]

Start = Callable[[LaunchSpec], Sequence[ObservedRank]]
"""Where each rank of a spec runs, and on which CPUs."""


class BindingLostError(LaunchError):
    """No start of this placement gives the ranks CPUs as the launcher's own start does."""


def with_binding(
    launcher: Launcher, placed: LaunchSpec, work_dir: Path, start: Start | None = None
) -> LaunchSpec:
    """The placed start, by which each host's ranks have CPUs that the launcher gives there itself.

    Args:
        launcher: The user's launcher.
        placed: A start with cluster and placement.
        work_dir: Folder for the launcher's files.
        start: Starts tiny programs and observes them; None: by the launcher.

    Raises:
        BindingLostError: There is none; the message has a rank with both its CPU lists.
        LaunchError: The launcher failed.
    """
    observe = start or (lambda spec: observe_ranks(launcher, spec, work_dir))
    seen = observe(placed)
    wanted = _Wanted(placed, seen, observe)
    lost = wanted.difference(seen)
    if lost is None:
        return placed
    wanted.observe_all_slots()
    cpus_of_rank = wanted.cpus_of_rank()
    for candidate in _starts_with(placed, cpus_of_rank):
        try:
            if wanted.difference(observe(candidate)) is None:
                return candidate
        except LaunchError:  # Not every launcher takes these lists, and not every host has taskset.
            continue
    raise BindingLostError(lost)


def _starts_with(placed: LaunchSpec, cpus_of_rank: tuple[str, ...]) -> Iterator[LaunchSpec]:
    if not all(cpus_of_rank):
        return
    for by_program in (False, True):
        yield dataclasses.replace(placed, cpus=RankCpus(cpus_of_rank, by_program=by_program))


class _Wanted:
    """The CPUs of the launcher's own start, by machine."""

    def __init__(self, placed: LaunchSpec, seen: Sequence[ObservedRank], observe: Start) -> None:
        assert placed.cluster is not None
        self._own = dataclasses.replace(placed, placement=None)
        self._num_slots = placed.cluster.num_slots
        self._machine_of_rank = [rank.machine for rank in seen]
        self._observe = observe
        self._lists = _lists_of_machine(observe(self._own))

    def observe_all_slots(self) -> None:
        """Observe a start on all slots, if a host has more ranks now than by the launcher."""
        needed = Counter(self._machine_of_rank)
        if any(len(self._lists.get(machine, ())) < number for machine, number in needed.items()):
            full = dataclasses.replace(self._own, num_ranks=self._num_slots)
            self._lists = _lists_of_machine(self._observe(full))

    def difference(self, seen: Sequence[ObservedRank]) -> str | None:
        """What differs from the launcher's own start; None where nothing does."""
        for machine, lists in _lists_of_machine(seen).items():
            own = self._lists.get(machine, [])
            # Where all ranks share the same CPUs, further ones share them, too.
            is_shared = len(set(own)) == 1 and len(own) > 1 and set(lists) == set(own)
            if not is_shared and Counter(lists) - Counter(own):
                theirs = f"CPUs {own[0]}" if own else "none"
                return f"a rank on {machine.name} has CPUs {lists[0]}, by the launcher {theirs}"
        return None

    def cpus_of_rank(self) -> tuple[str, ...]:
        """The list of each rank; empty where the launcher starts fewer ranks on its host."""
        left = {machine: iter(lists) for machine, lists in self._lists.items()}
        return tuple(next(left.get(machine, iter(())), "") for machine in self._machine_of_rank)


def _lists_of_machine(seen: Sequence[ObservedRank]) -> dict[Machine, list[str]]:
    lists: dict[Machine, list[str]] = {}
    for rank in seen:
        lists.setdefault(rank.machine, []).append(rank.cpus)
    return lists
