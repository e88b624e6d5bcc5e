# SPDX-License-Identifier: Apache-2.0
"""Adds one run to the history of its program."""

from __future__ import annotations

from functools import partial

from fairlead.act.launch import Launcher
from fairlead.decide.decision import Decision
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.request import Request
from fairlead.measure import profile_cache
from fairlead.measure.known_inputs import earlier_build
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator
from fairlead.units import format_duration
from fairlead.watch import history_store
from fairlead.watch.collective_drift import DriftCounts
from fairlead.watch.dropped import Dropped
from fairlead.watch.history import History, Retry, RunTime, now
from fairlead.watch.run_comparison import RunComparison

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
            request: The program, its number of ranks, and the user's arguments for the launcher.
            launcher: Starts it.
            launchers: The placement by the launcher's own start.
            cluster: Hosts that take part.
            directory: Folder of this run.
            narrator: Prints the time of a run.
        """
        self._directory, self._narrator = directory, narrator
        self._find_key = partial(
            profile_cache.program_key,
            *(request.program, request.num_ranks, cluster, launcher, launchers.host_names()),
            launcher_args=request.launcher.arguments,
        )
        self._path = history_store.history_path(self._find_key())
        build = earlier_build(request.program, request.num_ranks, launcher)
        self._empty = History(
            program=request.program, num_ranks=request.num_ranks, hosts=cluster.hosts
        )
        self.kept = history_store.recall(self._path, self._empty, narrator.report)
        self._earlier: History | None = None
        if build is not None:
            earlier = history_store.history_path(self._find_key(build=build))
            self._earlier = history_store.recall(earlier, self._empty)

    @property
    def dropped(self) -> Dropped:
        """What has proved slower so far, also by runs of an earlier build."""
        return Dropped(self.kept, self._earlier)

    def follow_traffic(self) -> None:
        """Go on in the history of what is known now of the program's input files.

        A run by a guess shows at its end only which of its arguments are input files.
        """
        path = history_store.history_path(self._find_key())
        if path != self._path:
            self._path = path
            self.kept = history_store.recall(path, self._empty)

    def add_traced_run(
        self,
        seconds: float | None,
        *,
        is_shared: bool = False,
        is_relayed: bool = False,
        is_tuned: bool = False,
    ) -> None:
        """Keep the time of a traced run, on the launcher's placement; None: there was none now."""
        if seconds is not None:
            self._add(
                *("launcher", None, seconds, None),
                is_traced=True, is_shared=is_shared, is_relayed=is_relayed, is_tuned=is_tuned,
            )  # fmt: skip
        self.write()

    def add(
        self,
        method: str,
        decision: Decision,
        seconds: float,
        predicted_s: float | None,
        *,
        is_tuned: bool = False,
        is_relayed: bool = False,
        is_inside: bool = False,
        drift: DriftCounts | None = None,
        guessed_from: tuple[str, ...] | None = None,
        is_shared: bool = False,
        difference: float | None = None,
    ) -> None:
        """Keep the time of a successful run, and print it with the prediction."""
        placement = decision.placement
        names = None if placement is None else tuple(placement.host_names())
        by = "launcher" if names is None else method
        self._add(
            *(by, names, seconds, predicted_s),
            is_tuned=is_tuned, is_relayed=is_relayed, is_inside=is_inside, drift=drift,
            guessed_from=guessed_from, difference=difference, is_shared=is_shared,
        )  # fmt: skip
        self.write()
        launcher_s = self.kept.launcher_s()
        line = f"took {format_duration(seconds)}"
        if predicted_s is not None:
            line += f", predicted {format_duration(predicted_s)}"
        relayed_s = self.kept.usual_s(None, is_tuned=False, is_relayed=True)
        if placement is not None and launcher_s is None and relayed_s is not None:
            line += f"; on the launcher's placement with relays {format_duration(relayed_s)}"
        elif placement is not None and launcher_s is None:
            line += "; no time of the launcher's placement on these hosts is known to compare with"
        elif placement is not None and launcher_s is not None:
            line += f"; on the launcher's placement {format_duration(launcher_s)}"
        if is_shared:
            line += "; another run had some of the hosts, so this time does not count"
        if placement is not None and not (is_relayed or is_inside):
            line += self._judge(
                "this placement (not the method)", self.kept.compare_placement(names or ())
            )
        if is_relayed:
            line += self._judge("relays on this placement", self.kept.compare_relays(names))
        if is_tuned:
            tuned = self.kept.compare_tuning(names, is_relayed=is_relayed)
            line += self._judge("tuned collectives on this placement", tuned)
        if is_inside:
            found = self.kept.compare_inside(names)
            line += self._judge("other CPUs on this placement", found)
        self._narrator.report(line)

    def _judge(self, what: str, found: RunComparison) -> str:
        """What the runs so far say, and how to undo it; empty where they say nothing against it."""
        if found.is_slower:
            undo = f"fairlead runs --forget {self._directory.path.name}"
            return (
                f"; {what} proved slower ({found.line()}; risk of an error {found.risk:.1%}) and "
                f"will be left out until the network or the load changes; to undo that: {undo}"
            )
        if found.is_suspect:
            return f"; {what} may be slower ({found.line()}): it will run in turns with and without"
        return ""

    def try_again(self, host_of_rank: tuple[str, ...] | None, why: str) -> None:
        """Let earlier runs count no more against what was dropped on a placement."""
        mark = Retry(host_of_rank=host_of_rank, when=now(), why=why)
        try:
            self.kept = history_store.add(self._path, self._empty, retries=[mark])
        except InputError as error:
            self.kept = self.kept.with_retry(mark)
            self._narrator.report_loss(f"the history cannot be written: {error}")

    def write(self) -> None:
        """Write the history, if there is any, into the run's folder, for its report."""
        if self.kept.runs:
            with self._directory.tolerate_failures():
                self.kept.save(self._directory.file(run_directory.HISTORY))

    def keep(
        self, method: str, placement: Placement | None, seconds: float, *, is_shared: bool = False
    ) -> None:
        """Keep the time of a successful run; None for the launcher's own placement."""
        names = None if placement is None else tuple(placement.host_names())
        self._add(method, names, seconds, None, is_shared=is_shared)

    def _add(
        self,
        method: str,
        host_of_rank: tuple[str, ...] | None,
        seconds: float,
        predicted_s: float | None,
        *,
        is_traced: bool = False,
        is_tuned: bool = False,
        is_relayed: bool = False,
        is_inside: bool = False,
        drift: DriftCounts | None = None,
        guessed_from: tuple[str, ...] | None = None,
        difference: float | None = None,
        is_shared: bool = False,
    ) -> None:
        one = RunTime(
            when=now(),
            folder=str(self._directory.path.absolute()),
            method=method,
            host_of_rank=host_of_rank,
            seconds=seconds,
            predicted_s=predicted_s,
            is_traced=is_traced,
            is_tuned=is_tuned,
            is_relayed=is_relayed,
            is_inside=is_inside,
            drift=drift,
            guessed_from=guessed_from,
            difference=difference,
            is_shared=is_shared,
        )
        try:
            self.kept = history_store.add(self._path, self._empty, one)
        except InputError as error:
            self._narrator.report_loss(f"the time of this run is not recorded: {error}")
