# SPDX-License-Identifier: Apache-2.0
"""Adds one run to the history of its program."""

from __future__ import annotations

from fairlead.act.launch import Launcher
from fairlead.decide.decision import Decision
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.request import Request
from fairlead.measure import profile_cache
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator
from fairlead.units import format_duration
from fairlead.watch import history as histories
from fairlead.watch.collective_drift import DriftCounts
from fairlead.watch.history import History, RunTime

__all__ = ["RunLog"]


class RunLog:
    """The history of this program, to which a run adds itself.

    Attributes:
        kept: All runs so far.
    """

    def __init__(
        self,
        request: Request,
        launcher: Launcher,
        launchers: Placement,
        cluster: Cluster,
        *,
        directory: RunDirectory,
        narrator: Narrator,
    ) -> None:
        """Read the history.

        Args:
            request: The program, and its number of ranks.
            launcher: Starts it.
            launchers: The placement by the launcher's own start.
            cluster: Hosts that take part.
            directory: Folder of this run.
            narrator: Prints the time of a run.
        """
        self._directory, self._narrator = directory, narrator
        key = profile_cache.program_key(
            request.program, request.num_ranks, cluster, launcher, launchers.host_names()
        )
        self._path = histories.history_path(key)
        self._empty = History(
            program=request.program, num_ranks=request.num_ranks, hosts=cluster.hosts
        )
        self.kept = histories.recall(self._path, self._empty)

    def add_traced_run(self, seconds: float | None) -> None:
        """Keep the time of a traced run, on the launcher's placement; None: there was none now."""
        if seconds is not None:
            self._add("launcher", None, seconds, None, is_traced=True)
        self.write()

    def add(
        self,
        method: str,
        decision: Decision,
        seconds: float,
        predicted_s: float | None,
        *,
        is_tuned: bool = False,
        drift: DriftCounts | None = None,
    ) -> None:
        """Keep the time of a successful run, and print it with the prediction."""
        placement = decision.placement
        names = None if placement is None else tuple(placement.host_names())
        by = "launcher" if names is None else method
        self._add(by, names, seconds, predicted_s, is_tuned=is_tuned, drift=drift)
        self.write()
        launcher_s = self.kept.launcher_s()
        line = f"took {format_duration(seconds)}"
        if predicted_s is not None:
            line += f", predicted {format_duration(predicted_s)}"
        if placement is not None and launcher_s is None:
            line += "; no time of the launcher's placement on these hosts is known to compare with"
        elif placement is not None and launcher_s is not None:
            line += f"; on the launcher's placement {format_duration(launcher_s)}"
            if self.kept.has_proved_slower(placement):
                line += ": this placement has proved slower, it is not taken again"
        if is_tuned and self.kept.has_tuning_proved_slower(names):
            line += "; tuned collectives have proved slower, they are not used again"
        self._narrator.tell(line)

    def write(self) -> None:
        """Write the history, if there is any, into the run's folder, for its report."""
        if self.kept.runs:
            with self._directory.losing():
                self.kept.save(self._directory.file(run_directory.HISTORY))

    def keep(self, method: str, placement: Placement | None, seconds: float) -> None:
        """Keep the time of a successful run; None for the launcher's own placement."""
        names = None if placement is None else tuple(placement.host_names())
        self._add(method, names, seconds, None)

    def _add(
        self,
        method: str,
        host_of_rank: tuple[str, ...] | None,
        seconds: float,
        predicted_s: float | None,
        *,
        is_traced: bool = False,
        is_tuned: bool = False,
        drift: DriftCounts | None = None,
    ) -> None:
        one = RunTime(
            when=histories.now(),
            folder=str(self._directory.path.absolute()),
            method=method,
            host_of_rank=host_of_rank,
            seconds=seconds,
            predicted_s=predicted_s,
            is_traced=is_traced,
            is_tuned=is_tuned,
            drift=drift,
        )
        try:
            self.kept = histories.add(self._path, self._empty, one)
        except InputError as error:
            self._narrator.tell(f"the time of this run is not kept: {error}")
