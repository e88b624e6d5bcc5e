# SPDX-License-Identifier: Apache-2.0
"""Gives each rank of a placed start the CPUs that were chosen for it, and observes them.

Launchers differ in the lists that they take, and a host's CPUs may have become fewer since they
were read: so the start is observed before the program's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.act.launch.binding import BindingLostError
from fairlead.act.launch.launch_spec import Launcher, LaunchSpec, RankCpus
from fairlead.act.launch.observing import observe_ranks
from fairlead.errors import LaunchError
from fairlead.model.cpu_lists import cpus_of_list

__all__ = ["ObserveCpus", "with_chosen_cpus"]

ObserveCpus = Callable[[LaunchSpec], Sequence[str]]
"""Starts a tiny program: the CPUs of each rank."""


def with_chosen_cpus(
    launcher: Launcher,
    placed: LaunchSpec,
    lists: Sequence[str],
    work_dir: Path,
    observe: ObserveCpus | None = None,
    *,
    forms: Sequence[bool] = (False, True),
) -> LaunchSpec:
    """The placed start, by which each rank has these CPUs.

    Args:
        launcher: The user's launcher.
        placed: A start with a placement.
        lists: CPUs of each rank, in the form of cpuset(7).
        work_dir: Folder for the launcher's files.
        observe: Starts tiny programs; None: by the launcher.
        forms: Values of `RankCpus.by_program` that are tried, in this order.

    Raises:
        BindingLostError: There is none; the message has the reason.
    """
    look = observe or (lambda spec: [one.cpus for one in observe_ranks(launcher, spec, work_dir)])
    wanted = [cpus_of_list(text) for text in lists]
    problem = ""
    for by_program in forms:
        candidate = dataclasses.replace(placed, cpus=RankCpus(tuple(lists), by_program=by_program))
        try:
            seen = look(candidate)
        except LaunchError as error:
            problem = problem or str(error)
            continue
        differing = [rank for rank, cpus in enumerate(seen) if cpus_of_list(cpus) != wanted[rank]]
        if not differing:
            return candidate
        rank = differing[0]
        problem = f"rank {rank} has CPUs {seen[rank]}, and not {lists[rank]}"
    raise BindingLostError(problem)
