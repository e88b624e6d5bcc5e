# SPDX-License-Identifier: Apache-2.0
"""The program's messages around slow pairs of hosts: routers, and the plan for the program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from fairlead.act import mpi_builds
from fairlead.act.plan.relay import RouterPlace, new_key, write_relay_plan
from fairlead.act.preload import preloaded
from fairlead.act.relay.kept_routers import kept_routers
from fairlead.act.relay.routers import running_routers
from fairlead.decide.routes import MOST_RELAYS, faster_pairs, probed_path_table
from fairlead.errors import Error, InputError
from fairlead.files import run_directory
from fairlead.flows.inputs import Prepared
from fairlead.flows.request import Request
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable
from fairlead.narrator import Narrator
from fairlead.units import format_size
from fairlead.watch.carried import Carried
from fairlead.watch.kept_paths import recall_paths, remember_paths, with_kept_paths

__all__ = ["carried_line", "relaying", "told_paths"]


@contextlib.contextmanager
def relaying(
    prepared: Prepared, request: Request, threshold_bytes: int, narrator: Narrator
) -> Iterator[dict[str, str]]:
    """Routers on all hosts until the end of the block, and the program's variables for them.

    Without routers the program runs as it would without relays, and the user is told why.

    Args:
        prepared: Network, hosts and launcher.
        request: May name the way to the hosts; by which rule messages take paths, and its zones.
        threshold_bytes: Size from which messages may be relayed.
        narrator: Tells of the routers.
    """
    table = told_paths(prepared.network, request.relay_rule, narrator)
    is_kept = request.relay_rule == "mcm"
    if table is not None and is_kept and (kept := recall_paths(prepared.network)) is not None:
        narrator.tell("relays: the path table begins as an earlier run has left it")
        table = with_kept_paths(table, kept)
    with contextlib.ExitStack() as stack:
        variables: dict[str, str] = {}
        try:
            if table is not None:
                key = new_key()
                library = mpi_builds.find(prepared.launcher).intercept
                routers = stack.enter_context(
                    _routers(prepared, request, key, table.hosts, narrator)
                )
                folder = prepared.directory.file(run_directory.PLAN)
                write_relay_plan(
                    folder, prepared.network, table, routers, key,
                    threshold_bytes=threshold_bytes, rule=request.relay_rule,
                    zones=request.relay_zones,
                )  # fmt: skip
                record = str(prepared.directory.path.absolute())
                variables = preloaded(
                    {}, library, FAIRLEAD_PLAN=str(folder.absolute()), FAIRLEAD_RECORD=record
                )
        except Error as error:
            narrator.tell(f"no message is relayed: {error}")
        yield variables
    if variables and is_kept:
        try:
            remember_paths(prepared.network, prepared.directory.path)
        except InputError as error:
            narrator.tell(f"the path table is not kept: {error}")


@contextlib.contextmanager
def _routers(
    prepared: Prepared, request: Request, key: str, hosts: Sequence[str], narrator: Narrator
) -> Iterator[list[RouterPlace]]:
    """Those that are kept, or else some of this run's own."""
    with contextlib.ExitStack() as stack:
        kept = None
        try:
            kept = stack.enter_context(kept_routers(key, hosts))
        except Error as error:
            narrator.tell(f"the kept routers are not used: {error}")
        if kept is not None:
            narrator.tell(f"relays: the kept routers of {len(kept)} hosts")
            yield kept
            return
        routers = stack.enter_context(
            running_routers(
                prepared.launcher, hosts, key, request.launcher_args, report=narrator.tell
            )
        )
        narrator.tell(f"relays: a router on each of {len(routers)} hosts")
        yield routers


def told_paths(network: Network, rule: str, narrator: Narrator) -> PathTable | None:
    """The ways between hosts; None, and one line of output, if there is one way for each pair.

    Args:
        network: The program's hosts.
        rule: By which messages take paths; "trials" also takes several direct connections.
        narrator: Tells for how many pairs relays are expected to be faster.
    """
    try:
        table = probed_path_table(network, MOST_RELAYS[rule])
    except Error as error:
        narrator.tell(f"no message is relayed: {error}")
        return None
    if not table.has_relays:
        lack = "no pair of hosts has a useful way by a third one"
        if rule != "trials":
            narrator.tell(f"no message is relayed: {lack}")
            return None
        narrator.tell(f"relays: {lack}; several connections are tried")
        return table
    num_pairs = sum(route.is_direct for route in table.routes)
    num_faster = len(faster_pairs(table))
    narrator.tell(f"relays: expected to be faster on {num_faster} of {num_pairs} pairs of hosts")
    return table


def carried_line(carried: Carried, hosts: Sequence[str], threshold_bytes: int) -> str:
    """What carried the large messages of a run, for a user.

    Args:
        carried: By the indices of hosts.
        hosts: Their names.
        threshold_bytes: Size from which messages may be relayed.
    """
    large = f"messages of at least {format_size(threshold_bytes)}"
    all_bytes = carried.mpi_bytes + carried.routers_bytes
    if all_bytes == 0:
        return f"relays: no {large} went between hosts"
    if carried.routers_bytes == 0:
        return f"relays: the MPI carried all {format_size(all_bytes)} in {large}"
    told = (
        f"relays: routers carried {format_size(carried.routers_bytes)} of "
        f"{format_size(all_bytes)} in {large}"
    )
    if (path := carried.busiest_relayed_path) is not None:
        names = " → ".join(hosts[host] for host in path)
        told += f", {format_size(carried.relayed_bytes)} of it by third hosts, most by {names}"
    return told
