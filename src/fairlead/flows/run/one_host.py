# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` on one host: nothing to measure and nothing to place."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.act.launch import detect
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.alongside import announce_to_others
from fairlead.flows.request import Request
from fairlead.flows.run.launcher_alone import start_by_launcher_alone
from fairlead.narrator import Narrator


def run_on_one_host(
    request: Request,
    narrator: Narrator,
    announce: Callable[[Path], None],
    *,
    is_dry: bool = False,
    unused_options: Sequence[str] = (),
) -> int:
    """Run the program with the launcher's own placement.

    Args:
        request: What the user asked for; options for measuring and placing are ignored.
        narrator: Reports why nothing is placed.
        announce: Receives the folder of the run's record before the program starts.
        is_dry: Start nothing.
        unused_options: Names of given options that have no effect here, for the user.

    Returns:
        The exit code of the launcher; 0 where nothing was started.

    Raises:
        Error: The launcher would refuse an argument.
    """
    cluster = request.cluster
    launcher = detect(request.launcher.mpirun, request.program)
    spec = request.launch_spec(cluster)
    launcher.check(spec)
    directory = RunDirectory.new(request.directory, request.name, narrator.report_loss)
    directory.record("request", dataclasses.asdict(request))
    directory.record("network", {"hosts": cluster.hosts, "slots": cluster.slots})
    directory.record("decision", {"method": "launcher", "kept_launcher_placement": True})
    relayed = ", and no host to relay" if request.is_relay_asked_for else ""
    unused = f"; not used: {', '.join(unused_options)}" if unused_options else ""
    narrator.report(f"there is one host, {cluster.hosts[0]}: nothing to place{relayed}{unused}")
    announce(directory.path)
    if is_dry:
        directory.record("end", {"is_dry": True})
        return 0
    with announce_to_others(cluster.hosts, request.name):
        return start_by_launcher_alone(launcher, spec, directory, narrator)
