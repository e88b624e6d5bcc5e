# SPDX-License-Identifier: Apache-2.0
"""The measuring program: one process per host, which stays for further orders until it is closed.

For a rehearsal of a program's own processes there are as many as that has, where it has them.

Starting a process on each of many hosts takes longer than most measurements.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import time
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.act import mpi_builds
from fairlead.act.launch import (
    Conversation,
    Finished,
    Launcher,
    LaunchSpec,
    LaunchTimeoutError,
    RankCpus,
    environment_of_tools,
    unreachable_hosts,
)
from fairlead.files.scratch import scratch_folder
from fairlead.measure.probe_result import PAIRS_FORMAT, Documents, sends_by_tcp
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.narrator import Progress

__all__ = ["PROGRESS", "ProbeProgram", "chosen_pairs"]

PROGRESS = re.compile(r"fairlead-probe: progress (\d+) (\d+)$")

GRACE_S = 5.0
"""Time to end after rank 0 has printed everything. A launcher that lost a host may then wait
forever; ranks that end normally take about 3 s."""

MOST_ARGUMENT_TEXT = 60_000
"""Open MPI 4 repeats all arguments in one environment variable, which Linux limits to 128 KiB
(MAX_ARG_STRLEN)."""

_NO_PAIRS = '{"mode":"long-trains","pairs":[],"more_orders":true}'


class ProbeProgram:
    """The measuring program on the hosts of its last order; leaving a `with` block ends it.

    Orders are JSON. The first is passed as an argument, further ones by standard input, one per
    line. If a launcher does not forward that to rank 0, the program ends, and the next order starts
    it again.
    """

    def __init__(
        self,
        launcher: Launcher,
        launcher_args: Sequence[str] = (),
        *,
        most_argument_text: int = MOST_ARGUMENT_TEXT,
        processes: Placement | None = None,
        cpus: RankCpus | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            launcher: Starts the program.
            launcher_args: The user's own arguments for the launcher.
            most_argument_text: Letters of an order that fits into the command.
            processes: Where they run; None for one on each host.
            cpus: CPUs of these processes; None leaves them to the launcher.
            env: Further variables of theirs.
        """
        self.launcher = launcher
        self._most_argument_text = most_argument_text
        self.launcher_args = tuple(launcher_args)
        self._processes = processes
        self._cpus = cpus
        self._env = dict(env or {})
        self._sends_by_tcp: bool | None = None
        self._cluster: Cluster | None = None
        self._conversation: Conversation | None = None
        self._files = contextlib.ExitStack()

    def __enter__(self) -> ProbeProgram:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def sends_by_tcp(self) -> bool | None:
        """Whether the MPI has sent by TCP so far; None where nothing shows it."""
        return self._sends_by_tcp

    def require_built(self) -> None:
        """Check that the program is built for this launcher's MPI.

        Raises:
            LaunchError: It is not; the message says how to build it.
        """
        mpi_builds.find(self.launcher)

    def unreachable_hosts(self, cluster: Cluster, timeout_s: float = 10.0) -> dict[str, str]:
        """Hosts that do not answer the launcher's way of reaching them, with the reason of each.

        Raises:
            LaunchError: What reaches them is not installed.
        """
        return unreachable_hosts(self.launcher, cluster, timeout_s, self.launcher_args)

    def order(
        self,
        cluster: Cluster,
        options: Mapping[str, object],
        *,
        timeout_s: float,
        formats: Sequence[str] = (PAIRS_FORMAT,),
        on_progress: Progress | None = None,
    ) -> Finished:
        """Measure something; for other hosts than before, the program is started again.

        Signals that arrive meanwhile end the program, as in `fairlead.act.launch.run`.

        Args:
            cluster: The hosts; one process runs on each.
            options: What is measured, the fields of the order (mpi/probe/options.hpp).
            timeout_s: Time for starting and measuring together.
            formats: Formats of the documents that answer the order.
            on_progress: Gets rounds done and rounds in all; the last ones may be missing, since
                the program prints them independently of its answer.

        Returns:
            The output for this order, also after a timeout, which its error output then reports.
            The exit code is 0 while the program keeps running.

        Raises:
            LaunchError: The launcher cannot be used.
        """
        began_s = time.monotonic()
        order = json.dumps({**options, "more_orders": True}, separators=(",", ":"))

        def ask(line: str | None, formats: Sequence[str]) -> Finished:
            left_s = timeout_s - (time.monotonic() - began_s)
            answer = self._ask(line, left_s, formats, on_progress)
            return dataclasses.replace(answer, seconds=time.monotonic() - began_s)

        if self.is_running_on(cluster):
            answer = ask(order, formats)
            # It ended normally and printed nothing: the launcher did not forward the line.
            if self._conversation or answer.returncode or answer.stdout:
                return answer
        self.close()
        if len(order) <= self._most_argument_text:
            self._start(cluster, order)
            return ask(None, formats)
        self._start(cluster, _NO_PAIRS)
        answer = ask(None, (PAIRS_FORMAT,))
        return ask(order, formats) if self._conversation else answer

    def is_running_on(self, cluster: Cluster) -> bool:
        """Whether the program is running on these hosts already."""
        return self._cluster == cluster

    def close(self) -> None:
        """End the program and wait until all of its processes have ended."""
        conversation, self._conversation, self._cluster = self._conversation, None, None
        with self._files:
            if conversation is not None:
                conversation.end(GRACE_S)

    def _start(self, cluster: Cluster, order: str) -> None:
        folder = self._files.enter_context(scratch_folder("fairlead-probe-"))
        processes = self._processes or Placement(
            cluster.hosts, np.arange(cluster.num_hosts), method="probe"
        )
        spec = LaunchSpec(
            (str(mpi_builds.find(self.launcher).probe), order),
            processes.num_ranks,
            cluster,
            processes,
            env={**mpi_builds.library_path(self.launcher), **self._env},
            launcher_args=self.launcher_args,
            cpus=self._cpus,
            is_tool=True,
        )
        command = self.launcher.prepare_command(spec, folder)
        self._conversation = Conversation(command, environment_of_tools())
        self._cluster = cluster

    def _ask(
        self,
        line: str | None,
        timeout_s: float,
        formats: Sequence[str],
        on_progress: Progress | None,
    ) -> Finished:
        def on_line(line: str) -> None:
            if on_progress and (match := PROGRESS.search(line)):
                on_progress(int(match[1]), int(match[2]))

        conversation = self._conversation
        assert conversation is not None
        try:
            answer = conversation.ask(line, Documents(formats).is_last, timeout_s, on_line)
        except LaunchTimeoutError as error:
            # It may still have delivered its result.
            notice = f"{error.finished.stderr}\nfairlead-probe: error {error}"
            answer = dataclasses.replace(error.finished, stderr=notice)
        found = sends_by_tcp(answer.stdout)
        self._sends_by_tcp = self._sends_by_tcp if found is None else found
        if conversation.has_ended:
            self.close()
        return answer


def chosen_pairs(pairs: npt.NDArray[np.bool_]) -> list[list[int]]:
    """The pairs of an order, the lower host first.

    Args:
        pairs: The chosen pairs, shape (H, H); only what is above the diagonal counts.
    """
    chosen: list[list[int]] = np.argwhere(np.triu(pairs, 1)).tolist()
    return chosen
