# SPDX-License-Identifier: Apache-2.0
"""How many ranks run on which hosts, where the user left either to the launcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import NamedTuple

from fairlead.act.launch import Launcher, LaunchSpec, SchedulerLauncher, detect, observe_ranks
from fairlead.errors import Error, LaunchError
from fairlead.files.scratch import scratch_folder
from fairlead.flows.request import LauncherRequest, find_hosts, name_origin
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator

__all__ = ["RequestedJob", "count_ranks", "find_job"]


Start = Callable[[Launcher, LaunchSpec], Sized]
"""What the launcher starts for a spec, one item a rank."""


def _start(launcher: Launcher, spec: LaunchSpec) -> Sized:
    with scratch_folder("fairlead-count-") as folder:
        return observe_ranks(launcher, spec, folder)


class RequestedJob(NamedTuple):
    """Ranks and hosts.

    Attributes:
        num_ranks: Number of ranks.
        cluster: Hosts and slots.
    """

    num_ranks: int
    cluster: Cluster


def find_job(
    num_ranks: int | None,
    named: Cluster | None,
    by: LauncherRequest,
    narrator: Narrator,
    start: Start = _start,
    *,
    program: Sequence[str] = (),
) -> RequestedJob:
    """The job that the user's launcher would start with what the user gave.

    Args:
        num_ranks: Number of ranks; None for as many as the launcher starts without `-n`.
        named: Hosts by a file or a list; None for those of the allocation.
        by: The launcher, with the user's arguments for it.
        narrator: Prints what was not given, and is taken.
        start: Starts the launcher.
        program: The program that is to run.

    Raises:
        InputError: There are neither hosts nor an allocation.
        LaunchError: There is no launcher, or it starts no ranks without `-n`.
    """
    cluster = find_hosts(named, by)
    taken, how = (
        (num_ranks, "")
        if num_ranks
        else _count(detect(by.mpirun, program), cluster, by.arguments, start)
    )
    if named is None or num_ranks is None:
        hosts = "1 host" if cluster.num_hosts == 1 else f"{cluster.num_hosts} hosts"
        where = f"{hosts}{f' of {name_origin(cluster)}' if named is None else ''}"
        narrator.report(f"{taken} ranks on {where}{how}")
    return RequestedJob(taken, cluster)


def _count(
    launcher: Launcher, cluster: Cluster, arguments: tuple[str, ...], start: Start
) -> tuple[int, str]:
    """As `count_ranks`, and where the number is from."""
    try:
        taken = count_ranks(launcher, cluster, arguments, start)
    except LaunchError as error:
        # A scheduler's allocation has a slot for each rank, also while its hosts do not answer.
        if not isinstance(launcher, SchedulerLauncher):
            raise
        return cluster.num_slots, f", one for each slot: {error}"
    return taken, ": as many as the launcher starts without -n"


def count_ranks(
    launcher: Launcher, cluster: Cluster | None, arguments: tuple[str, ...], start: Start = _start
) -> int:
    """How many ranks the launcher starts without `-n`: it starts a tiny program.

    Args:
        launcher: The user's launcher.
        cluster: Hosts and slots; None leaves both to the launcher.
        arguments: The user's arguments for the launcher.
        start: Starts the launcher.

    Raises:
        LaunchError: It starts none, or not on these hosts.
    """
    try:
        return len(start(launcher, LaunchSpec(("true",), None, cluster, launcher_args=arguments)))
    except Error as error:
        raise LaunchError(
            f"the number of ranks is not known: without -n {launcher.name} ends with: {error}"
        ) from error
