# SPDX-License-Identifier: Apache-2.0
"""`fairlead relay serve`: a router on each host, for all runs until the service ends."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch import detect
from fairlead.act.relay.kept_routers import service_for
from fairlead.act.relay.routers import Routers
from fairlead.flows.request import hosts_of
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator

__all__ = ["serve_routers"]


def serve_routers(
    hostfile: Path | Cluster | None,
    mpirun: str | None,
    launcher_args: Sequence[str],
    narrator: Narrator,
) -> None:
    """Keep routers until SIGINT or SIGTERM.

    Args:
        hostfile: Hosts, or the file with them; None takes Slurm's allocation.
        mpirun: The launcher, which determines how hosts are reached; None looks for it.
        launcher_args: Its further arguments.
        narrator: Tells when runs may use them.

    Raises:
        InputError: There are no hosts, or routers are kept already.
        LaunchError: A router did not start.
    """
    launcher = detect(mpirun)
    hosts = hosts_of(hostfile).hosts
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        Routers(launcher, hosts, launcher_args, report=narrator.tell) as routers,
        service_for(routers) as service,
    ):
        narrator.tell(f"a router on each of {len(hosts)} hosts; runs with --relay use them")
        service.serve_forever()
