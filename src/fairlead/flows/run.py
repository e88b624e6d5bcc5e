# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: trace, measure, decide, then start the program by the user's launcher."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from fairlead.act import launch, mpi_builds
from fairlead.act.launch import LaunchSpec
from fairlead.act.plan.reorder import DEFAULT_MESSAGE_BYTES, write_reorder_plan
from fairlead.act.preload import preloaded
from fairlead.decide.expected_gain import TOLERATED_RATIO
from fairlead.decide.placement import require_method
from fairlead.errors import Error, InputError
from fairlead.files import run_directory
from fairlead.flows.decision import Decision, decided
from fairlead.flows.inputs import Prepared, place_prepared, prepare, probe_program_for
from fairlead.flows.request import Request
from fairlead.measure import profile_cache
from fairlead.narrator import Narrator
from fairlead.units import format_duration
from fairlead.watch import history as histories
from fairlead.watch.history import History, RunTime

__all__ = ["Announcement", "run", "start"]


@dataclasses.dataclass(frozen=True)
class Announcement:
    """What is printed before the program starts.

    Attributes:
        decision: The placement and the evidence for it.
        predicted_s: Expected time of the run; None without earlier runs.
        line: The decision in one line.
        directory: Folder of the run's record.
    """

    decision: Decision
    predicted_s: float | None
    line: str
    directory: Path


def run(
    request: Request,
    method: str,
    narrator: Narrator,
    announce: Callable[[Announcement], None],
    *,
    is_dry: bool = False,
) -> int:
    """Run the program, on the placement that the method finds if it is worth using.

    Args:
        request: What the user asked for.
        method: Mapping method, one of `fairlead.decide.placement.METHODS`.
        narrator: Tells the user of each step that takes time.
        announce: Receives the decision before the program starts.
        is_dry: Trace, measure and decide, but start nothing.

    Returns:
        The exit code of the launcher; 0 where nothing was started.

    Raises:
        Error: The network, the traffic or the placement could not be determined; nothing was
            started.
    """
    require_method(method)
    with probe_program_for(request) as probe_program:
        prepared = prepare(request, narrator, probe_program)
        history = _Log(prepared, request, narrator)
        decision = decided(prepared, request, method, history.kept, narrator)
    announcement = _announcement(prepared, request, method, decision, history.kept)
    announce(announcement)
    if is_dry:
        return 0
    seconds, exit_code = start(prepared, request, decision, narrator)
    if exit_code == 0:
        history.add(method, decision, seconds, announcement.predicted_s)
    return exit_code


class _Log:
    """Adds this run to the history of the program."""

    def __init__(self, prepared: Prepared, request: Request, narrator: Narrator) -> None:
        self._prepared, self._narrator = prepared, narrator
        cluster = prepared.cluster
        key = profile_cache.program_key(
            request.program, request.num_ranks, cluster, prepared.launcher
        )
        self._path = histories.history_path(key)
        self._empty = History(
            program=request.program, num_ranks=request.num_ranks, hosts=cluster.hosts
        )
        self.kept = histories.recall(self._path, self._empty)
        if prepared.traced_s is not None:
            self._add("launcher", None, prepared.traced_s, None, is_traced=True)

    def add(
        self, method: str, decision: Decision, seconds: float, predicted_s: float | None
    ) -> None:
        """Keep the time of a successful run, and print it beside the prediction."""
        placement = decision.placement
        names = None if placement is None else tuple(placement.host_names())
        self._add("launcher" if names is None else method, names, seconds, predicted_s)
        launcher_s = self.kept.launcher_s()
        told = f"took {format_duration(seconds)}"
        if predicted_s is not None:
            told += f", predicted {format_duration(predicted_s)}"
        if placement is not None and launcher_s is not None:
            told += f"; on the launcher's placement {format_duration(launcher_s)}"
            if self.kept.has_proved_slower(placement):
                told += ": this placement has proved slower, it is not taken again"
        self._narrator.tell(told)

    def _add(
        self,
        method: str,
        host_of_rank: tuple[str, ...] | None,
        seconds: float,
        predicted_s: float | None,
        *,
        is_traced: bool = False,
    ) -> None:
        one = RunTime(
            when=histories.now(),
            folder=str(self._prepared.directory.path.absolute()),
            method=method,
            host_of_rank=host_of_rank,
            seconds=seconds,
            predicted_s=predicted_s,
            is_traced=is_traced,
        )
        try:
            self.kept = histories.add(self._path, self._empty, one)
            self.kept.save(self._prepared.directory.file(run_directory.HISTORY))
        except InputError as error:
            self._narrator.tell(f"the time of this run is not kept: {error}")


def _announcement(
    prepared: Prepared, request: Request, method: str, decision: Decision, history: History
) -> Announcement:
    """The decision as it is printed and recorded."""
    predicted_s = decision.predicted_s(history.launcher_s())
    line = _line(prepared, request, method, decision)
    taken = decision.placement or place_prepared(prepared, request, "launcher")
    taken.save(prepared.directory.file(run_directory.PLACEMENT))
    prepared.directory.note(
        "decision",
        {
            "method": method,
            "kept_launcher_placement": decision.placement is None,
            "gain": dataclasses.asdict(decision.gain),
            "rehearsed_rounds": decision.num_rounds,
            "is_kept": decision.is_kept,
            "deciding_s": decision.seconds,
            "predicted_s": predicted_s,
            "line": line,
        },
    )
    return Announcement(decision, predicted_s, line, prepared.directory.path)


def start(
    prepared: Prepared, request: Request, decision: Decision, narrator: Narrator
) -> tuple[float, int]:
    """Start the program and wait for it; output and signals are passed on.

    Returns:
        Seconds from the start of the launcher to its end, and its exit code.
    """
    spec = LaunchSpec(
        request.program,
        request.num_ranks,
        prepared.cluster,
        decision.placement,
        reordering(prepared, narrator) if request.reorder else {},
        launcher_args=request.launcher_args,
    )
    command = prepared.launcher.command(spec, prepared.directory.path)
    prepared.directory.note("start", {"launcher_command": command})
    with prepared.stdin.opened(last=True) as stdin:
        finished = launch.run(command, stdin=stdin)
    end = {"exit_code": finished.returncode, "seconds": finished.seconds}
    try:
        prepared.directory.note("end", end)
    except InputError as error:  # The program has run, so its exit code is returned in any case.
        narrator.tell(f"the end of this run is not recorded: {error}")
    return finished.seconds, finished.returncode


def reordering(prepared: Prepared, narrator: Narrator) -> dict[str, str]:
    """Variables for placing topologies; none, and one line of output, if that is not possible."""
    folder = prepared.directory.file(run_directory.PLAN)
    try:
        library = mpi_builds.find(prepared.launcher).intercept
        message_bytes = prepared.traffic.mean_message_bytes or DEFAULT_MESSAGE_BYTES
        write_reorder_plan(folder, prepared.network, message_bytes)
    except Error as error:
        narrator.tell(f"topologies keep the order of their ranks: {error}")
        return {}
    return preloaded({}, library, FAIRLEAD_PLAN=str(folder.absolute()))


def _line(prepared: Prepared, request: Request, method: str, decision: Decision) -> str:
    gain, risk = decision.gain, request.rule.risk
    how = f"{decision.num_rounds} rehearsals" if decision.num_rounds else "the measured rates"
    spent = (
        f"deciding took {format_duration(decision.seconds)}"
        if decision.seconds
        else "nothing had to be measured"
    )
    if prepared.trace_s:
        spent += f", tracing {format_duration(prepared.trace_s)}"
    if method == "launcher":
        return f"the launcher's placement was asked for; {spent}"
    saved = (
        f"{gain.ratio:.0%} [{gain.low_ratio:.0%}, {gain.high_ratio:.0%}] less time on the network "
        f"by {how}, risk of a loss {gain.loss_risk:.1%}"
    )
    if decision.placement is not None:
        return f"placed by {method}: {saved}; {spent}"
    if decision.is_barred:
        return f"the launcher's placement is kept: that of {method} has proved slower; {spent}"
    if request.rule.is_hopeless(gain):
        return f"the launcher's placement is kept: nothing worth having is to be gained; {spent}"
    why = (
        f"a loss of more than {TOLERATED_RATIO:.0%} is likelier than {risk:.0%}"
        if gain.loss_risk > risk
        else f"less than {request.rule.least_ratio:.0%}"
    )
    return f"the launcher's placement is kept: {method} would take {saved}: {why}; {spent}"
