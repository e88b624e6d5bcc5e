# SPDX-License-Identifier: Apache-2.0
"""`fairlead oracle setup --start`: starts monitoring, and checks that figures arrive."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.launch.remote_command import remote_command
from fairlead.act.monitoring import Setup, Started, start_setup
from fairlead.errors import Error, LaunchError
from fairlead.measure.metrics import MetricSource, open_source
from fairlead.measure.topologies.switch_tree import host_port
from fairlead.narrator import Narrator

__all__ = ["run_monitoring"]

_WINDOW_S = 60.0
_ASK_S = 0.5


def run_monitoring(
    setup: Setup,
    folder: Path,
    hosts: Sequence[str],
    narrator: Narrator,
    *,
    agent: str | None = None,
    limit_s: float = 60.0,
) -> None:
    """Start the setup's programs, and keep them until SIGINT or SIGTERM.

    Args:
        setup: Its files have been written.
        folder: They are there, on a file system that all hosts share.
        hosts: Hosts to monitor.
        narrator: Reports when figures of all hosts are there, with the source for the oracle.
        agent: What reaches other hosts; None looks for it.
        limit_s: Time for figures of all hosts to arrive.

    Raises:
        LaunchError: A program ended, or figures of a host did not arrive in time.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    command = remote_command(agent, limit_s)
    with (
        contextlib.suppress(KeyboardInterrupt),
        start_setup(setup, folder, hosts, command) as started,
    ):
        # A host of containers may have no physical device, and its figures arrive all the same.
        source = open_source(setup.every_device)
        narrator.report(f"started on {len(hosts)} hosts; waiting for their figures")
        _wait_for_figures(source, started, hosts, limit_s)
        narrator.report(
            f"figures of all {len(hosts)} hosts arrive; --metrics {setup.metrics}; until it is "
            "interrupted"
        )
        while True:
            _require_running(started)
            time.sleep(_ASK_S)


def _wait_for_figures(
    source: MetricSource, started: Started, hosts: Sequence[str], limit_s: float
) -> None:
    """Return when the source has figures of each host.

    Raises:
        LaunchError: It has not in time; the message names the hosts, and what was last wrong.
    """
    end_s = time.monotonic() + limit_s
    while missing := _hosts_without_figures(source, hosts):
        _require_running(started)
        if time.monotonic() > end_s:
            raise LaunchError(
                f"no figures within {limit_s:g} s of {len(missing)} of {len(hosts)} hosts: "
                f"{', '.join(missing[:8])}"
            )
        time.sleep(_ASK_S)


def _hosts_without_figures(source: MetricSource, hosts: Sequence[str]) -> list[str]:
    try:
        found = source.read(time.time(), _WINDOW_S)
    except Error:  # It has just been started.
        return [*hosts]
    there = {name for series in found for name in (*series.host_names, series.port)}
    return [host for host in hosts if not {host, host_port(host)} & there]


def _require_running(started: Started) -> None:
    """Check that nothing that was started has ended.

    Raises:
        LaunchError: It has.
    """
    for line in started.lines_of_ended():
        raise LaunchError(line)
