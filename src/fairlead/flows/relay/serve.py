# SPDX-License-Identifier: Apache-2.0
"""`fairlead relay serve`: a router on each host, for all runs until the service ends."""

from __future__ import annotations

import contextlib
import signal

from fairlead.act.launch import detect
from fairlead.act.relay.kept_routers import service_for
from fairlead.act.relay.routers import Routers
from fairlead.flows.request import LauncherRequest
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator

__all__ = ["serve_routers"]


def serve_routers(cluster: Cluster, launcher: LauncherRequest, narrator: Narrator) -> None:
    """Keep routers until SIGINT or SIGTERM.

    Args:
        cluster: Their hosts.
        launcher: Determines how hosts are reached.
        narrator: Reports when runs may use them.

    Raises:
        InputError: Routers are kept already.
        LaunchError: A router did not start.
    """
    hosts = cluster.hosts
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        Routers(
            detect(launcher.mpirun), hosts, launcher.arguments, report=narrator.report
        ) as routers,
        service_for(routers) as service,
    ):
        narrator.report(f"a router on each of {len(hosts)} hosts; runs with --relay use them")
        service.serve_forever()
