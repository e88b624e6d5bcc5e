# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: trace, measure, decide, then start the program by the user's launcher."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fairlead.act import launch, mpi_builds
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.act.mpi_builds import MpiBuild
from fairlead.act.plan.collectives import CollectivesPlan
from fairlead.act.plan.reorder import DEFAULT_MESSAGE_BYTES, write_reorder_plan
from fairlead.act.preload import preloaded
from fairlead.decide.decision import Decision, judged
from fairlead.decide.kept_decisions import decision_path, keep, recalled
from fairlead.decide.measurer import HostsMeasurer
from fairlead.decide.placement import COST_OF_OBJECTIVE, require_method
from fairlead.decide.rule import barred_by
from fairlead.decide.search import DecisionProblem, default_budget_s, mapping_s, search
from fairlead.errors import Error, InputError
from fairlead.files import run_directory
from fairlead.flows.announcement import Announcement, decision_line
from fairlead.flows.collectives_of_run import (
    RunCollectives,
    following,
    given_collectives,
    tuned,
)
from fairlead.flows.inputs import Prepared, place_prepared, prepare, probe_program_for
from fairlead.flows.interruption import ended_by, telling_interruption
from fairlead.flows.relaying import carried_line, relaying, told_paths
from fairlead.flows.request import Request
from fairlead.flows.run_log import RunLog
from fairlead.measure import profile_cache
from fairlead.measure.profile_cache import Profile
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator
from fairlead.watch.carried import carried
from fairlead.watch.collective_drift import drift_counts
from fairlead.watch.history import History

__all__ = ["Announcement", "run", "start"]


def run(
    request: Request,
    narrator: Narrator,
    announce: Callable[[Announcement], None],
    *,
    is_dry: bool = False,
) -> int:
    """Run the program, on the placement that the method finds if it is worth using.

    Args:
        request: What the user asked for.
        narrator: Tells the user of each step that takes time.
        announce: Receives the decision before the program starts.
        is_dry: Trace, measure and decide, but start nothing.

    Returns:
        The exit code of the launcher; 0 where nothing was started.

    Raises:
        Error: The network, the traffic or the placement could not be determined; nothing was
            started.
    """
    method = request.placing.method
    require_method(method)
    with contextlib.ExitStack() as noting:
        with probe_program_for(request) as probe_program:
            plan = request.collectives.plan
            given = None if plan is None else given_collectives(plan, request.num_ranks)
            collectives = None if given is None else RunCollectives(given)
            prepared = prepare(request, narrator, probe_program)
            noting.enter_context(telling_interruption(prepared.directory, narrator))
            noting.enter_context(prepared.directory.noting_failure())
            history = RunLog(prepared, request, narrator)
            history.leave()
            if prepared.exclusive and not is_dry:
                return _not_started_again(prepared, narrator)
            decision = _decided(prepared, request, method, history.kept, narrator)
        announcement = _announcement(prepared, request, method, decision, history.kept)
        if collectives is None and request.collectives.tune == "auto":
            collectives = _tuned(prepared, request, decision, history.kept, narrator)
        announcement = _with_collectives(announcement, collectives, history.kept)
        announce(announcement)
        if is_dry:
            if request.relays is not None:
                told_paths(prepared.network, request.relays.rule, narrator)
            prepared.directory.note("end", {"is_dry": True})
            return 0
        used = None if collectives is None else collectives.plan
        seconds, exit_code, was_asked_to_end = start(prepared, request, decision, narrator, used)
        if exit_code == 0 and not was_asked_to_end:
            history.add(
                *(method, decision, seconds, announcement.predicted_s),
                is_tuned=used is not None and bool(used.rules.rules),
                drift=drift_counts(prepared.directory.path),
            )
        return exit_code


def _not_started_again(prepared: Prepared, narrator: Narrator) -> int:
    """The exit code of a run that ends with the traced one, whose files would be in the way."""
    named = ", ".join(prepared.exclusive[:3]) + (" ..." if len(prepared.exclusive) > 3 else "")
    narrator.tell(
        f"the program is not started again: it created {named} exclusively (O_EXCL) and would find "
        "it; the traced run is this run, and the next one is placed by what it taught; the record "
        f"of this run: {prepared.directory.path}"
    )
    prepared.directory.note("end", {"exit_code": 0, "exclusive": prepared.exclusive})
    return 0


def _tuned(
    prepared: Prepared, request: Request, decision: Decision, history: History, narrator: Narrator
) -> RunCollectives | None:
    if history.has_tuning_proved_slower(_names(decision)):
        narrator.tell("collectives stay the MPI's own: tuned ones have proved slower")
        return None
    placement = decision.placement or place_prepared(prepared, request, "launcher")
    return tuned(prepared, request, placement, narrator)


def _with_collectives(
    announcement: Announcement, collectives: RunCollectives | None, history: History
) -> Announcement:
    """The announcement with the time that is expected with these collectives."""
    if collectives is None or not collectives.rules.rules:
        return dataclasses.replace(announcement, collectives=collectives)
    predicted_s = history.usual_s(_names(announcement.decision), is_tuned=True)
    if predicted_s is None and announcement.predicted_s is not None:
        predicted_s = announcement.predicted_s * (1 - (collectives.saved_share or 0.0))
    return dataclasses.replace(announcement, predicted_s=predicted_s, collectives=collectives)


def _names(decision: Decision) -> list[str] | None:
    return None if decision.placement is None else decision.placement.host_names()


def _decided(
    prepared: Prepared, request: Request, method: str, history: History, narrator: Narrator
) -> Decision:
    """A decision kept from an earlier run while nothing has changed, or one made now."""
    budget_s = None if prepared.is_network_given else _budget_s(prepared, request)
    kept = recalled(_path(prepared, request, method, prepared.network), prepared.cluster)
    if kept is not None and still_holds(kept, history):
        narrator.tell("decision: kept from an earlier run; program, hosts and network are the same")
        _leave_baseline(prepared, None)
        return dataclasses.replace(kept, seconds=prepared.probe_s, budget_s=budget_s)
    found = search(_problem(prepared, request, method, history, narrator))
    _leave_baseline(prepared, found.by_long_trains)
    decision = judged(found, request.placing.rule)
    try:
        if found.by_long_trains is not None and prepared.profile_path is not None:
            profile_cache.renew(Profile(prepared.profile_path, found.network, found.by_long_trains))
        # If a saving is likely but too uncertain, the next run has a new budget.
        if decision.placement or decision.gain.ratio < request.placing.rule.least_ratio:
            keep(decision, method, _path(prepared, request, method, found.network))
    except InputError as error:
        narrator.tell(f"decision: not kept for later runs: {error}")
    spent_s = prepared.probe_s + decision.seconds
    return dataclasses.replace(decision, seconds=spent_s, budget_s=budget_s)


def still_holds(kept: Decision, history: History) -> bool:
    """Whether a kept decision is that of this history: the same traffic may be of another input."""
    if kept.placement is not None:
        return not history.has_proved_slower(kept.placement)
    return not kept.is_barred or bool(history.dropped())


def _leave_baseline(prepared: Prepared, by_long_trains: Network | None) -> None:
    """Leave in the run's folder the pairs that `fairlead watch` can measure in the same way."""
    if by_long_trains is None and prepared.profile_path is not None:
        kept = profile_cache.recall(prepared.profile_path, prepared.cluster, math.inf)
        by_long_trains = None if kept is None else kept.by_long_trains
    if by_long_trains is not None:
        with prepared.directory.losing():
            by_long_trains.save(prepared.directory.file(run_directory.MEASURED_AGAIN))


def _path(prepared: Prepared, request: Request, method: str, network: Network) -> Path:
    asked = request.placing
    by = (method, asked.metric, asked.objective, asked.seed, asked.rule)
    options = (by, asked.time_limit_s, *prepared.launchers.host_names())
    return decision_path(prepared.cluster, network, prepared.traffic, options)


def _problem(
    prepared: Prepared, request: Request, method: str, history: History, narrator: Narrator
) -> DecisionProblem:
    cost = COST_OF_OBJECTIVE[request.placing.objective]
    hosts = prepared.cluster.hosts
    budget_s = _budget_s(prepared, request)
    limit_s = mapping_s(budget_s, request.num_ranks)

    def cost_s(placement: Placement) -> float:
        return float(getattr(evaluate(placement, prepared.traffic, prepared.network), cost))

    dropped = [
        Placement(hosts, np.array([hosts.index(name) for name in names]))
        for names in history.dropped()
        if set(names) <= set(hosts)
    ]
    return DecisionProblem(
        traffic=prepared.traffic,
        network=prepared.network,
        baseline=place_prepared(prepared, request, "launcher"),
        place=lambda network: place_prepared(prepared, request, method, network, limit_s),
        cost=cost,
        rule=request.placing.rule,
        is_barred=barred_by(dropped, cost_s),
        measurer=_measurer(prepared, narrator),
        budget_s=budget_s - prepared.probe_s,
        placing_s=limit_s,
        seed=request.placing.seed,
    )


def _budget_s(prepared: Prepared, request: Request) -> float:
    return request.network.budget_s or default_budget_s(prepared.cluster.num_hosts)


def _measurer(prepared: Prepared, narrator: Narrator) -> HostsMeasurer | None:
    """None if the user gave the network, which is used as it is."""
    if prepared.is_network_given:
        return None
    return HostsMeasurer(
        prepared.probe_program,
        prepared.cluster,
        prepared.traffic,
        prepared.network.launch_s,
        narrator,
    )


def _announcement(
    prepared: Prepared, request: Request, method: str, decision: Decision, history: History
) -> Announcement:
    """The decision as it is printed; it is recorded with its placement."""
    predicted_s = decision.predicted_s(history.launcher_s())
    line = decision_line(prepared, request.placing.rule, method, decision)
    taken = decision.placement or place_prepared(prepared, request, "launcher")
    with prepared.directory.losing():
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
            "budget_s": decision.budget_s,
            "predicted_s": predicted_s,
            "line": line,
        },
    )
    return Announcement(decision, predicted_s, line, prepared.directory.path)


def start(
    prepared: Prepared,
    request: Request,
    decision: Decision,
    narrator: Narrator,
    collectives: CollectivesPlan | None = None,
) -> tuple[float, int, bool]:
    """Start the program and wait for it; output and signals are passed on.

    Returns:
        Seconds from the start of the launcher to its end, its exit code, and whether a signal asked
        for the end.
    """
    with contextlib.ExitStack() as stack:
        env = reordering(prepared, narrator) if request.placing.reorder else {}
        if collectives is not None:
            env |= following(prepared, collectives, narrator)
        if request.relays is not None:
            env |= stack.enter_context(relaying(prepared, request, request.relays, narrator))
        spec = LaunchSpec(
            request.program,
            request.num_ranks,
            prepared.cluster,
            decision.placement,
            env,
            launcher_args=request.launcher.arguments,
        )
        command = prepared.launcher.prepare_command(spec, prepared.directory.path)
        prepared.directory.note("start", {"launcher_command": command})
        stdin = stack.enter_context(prepared.stdin.opened(last=True))
        finished = launch.run(command, stdin=stdin, is_users=True)
    end: dict[str, Any] = {"exit_code": finished.returncode, "seconds": finished.seconds}
    if finished.signal is not None:
        end["signal"] = finished.signal
        narrator.tell(ended_by(finished, "the program"))
    if (drift := drift_counts(prepared.directory.path)) is not None:
        end["drift"] = drift.model_dump()
    if request.relays is not None:
        hosts = prepared.network.hosts
        if (found := carried(prepared.directory.path, len(hosts))) is not None:
            narrator.tell(carried_line(found, hosts, request.relays.least_bytes))
            end["relays"] = {
                "mpi_bytes": found.mpi_bytes,
                "routers_bytes": found.routers_bytes,
                "relayed_bytes": found.relayed_bytes,
            }
    prepared.directory.note("end", end)
    return finished.seconds, finished.returncode, finished.signal is not None


def reordering(
    prepared: Prepared,
    narrator: Narrator,
    find: Callable[[Launcher], MpiBuild] = mpi_builds.find,
) -> dict[str, str]:
    """Variables for placing topologies; none, and one line of output, if that is not possible."""
    folder = prepared.directory.file(run_directory.PLAN)
    try:
        library = find(prepared.launcher).intercept
        message_bytes = prepared.traffic.mean_message_bytes or DEFAULT_MESSAGE_BYTES
        write_reorder_plan(folder, prepared.network, message_bytes)
    except Error as error:
        narrator.tell(f"topologies keep the order of their ranks: {error}")
        return {}
    return preloaded({}, library, FAIRLEAD_PLAN=str(folder.absolute()))
