# SPDX-License-Identifier: Apache-2.0
"""The program's messages around slow pairs of hosts: routers, and the plan for the program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from fairlead.act import mpi_builds
from fairlead.act.plan.relay import new_key, write_relay_plan
from fairlead.act.preload import preloaded
from fairlead.act.relay.routers import running_routers
from fairlead.decide.routes import path_table
from fairlead.errors import Error
from fairlead.files import run_directory
from fairlead.flows.inputs import Prepared
from fairlead.flows.request import Request
from fairlead.narrator import Narrator

__all__ = ["relaying"]


@contextlib.contextmanager
def relaying(
    prepared: Prepared, request: Request, threshold_bytes: int, narrator: Narrator
) -> Iterator[dict[str, str]]:
    """Routers on all hosts until the end of the block, and the program's variables for them.

    Without routers the program runs as it would without relays, and the user is told why.

    Args:
        prepared: Network, hosts and launcher.
        request: May name the way to the hosts.
        threshold_bytes: Size from which messages may be relayed.
        narrator: Tells of the routers.
    """
    folder = prepared.directory.file(run_directory.PLAN)
    with contextlib.ExitStack() as stack:
        variables: dict[str, str] = {}
        try:
            library = mpi_builds.find(prepared.launcher).intercept
            table = path_table(prepared.network)
            key = new_key()
            routers = stack.enter_context(
                running_routers(prepared.launcher, table.hosts, key, request.launcher_args)
            )
            write_relay_plan(
                folder, prepared.network, table, routers, key, threshold_bytes=threshold_bytes
            )
            variables = preloaded({}, library, FAIRLEAD_PLAN=str(folder.absolute()))
            num_relayed = sum(not route.is_direct for route in table.routes)
            narrator.tell(f"relays: a router on each of {len(routers)} hosts, {num_relayed} paths")
        except Error as error:
            narrator.tell(f"no message is relayed: {error}")
        yield variables
