# SPDX-License-Identifier: Apache-2.0
"""The placement of a run: a decision kept from an earlier one, or one made by measuring now."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fairlead.act.launch import LaunchSpec, RankCpus
from fairlead.decide.decision import Decision, make_decision
from fairlead.decide.hosts.stragglers import straggler_lines
from fairlead.decide.kept_decisions import decision_path, keep, load_kept
from fairlead.decide.measurer import HostsMeasurer
from fairlead.decide.placement import COST_OF_OBJECTIVE, SLOWEST_RANK
from fairlead.decide.rule import dropped_by
from fairlead.decide.search import (
    EXTRA_S,
    DecisionProblem,
    default_budget_s,
    mapping_s,
    search,
)
from fairlead.decide.transfers import Transfers
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.files.run_directory import KEPT_DECISION
from fairlead.flows.inputs.binding import binding_s, keep_binding
from fairlead.flows.inputs.session import Session
from fairlead.flows.run.announcement import reason_of
from fairlead.flows.run.dropped import reconsider_dropped, take_turns
from fairlead.flows.run.features import FeaturePlan
from fairlead.flows.run.transfers import decide_transfers
from fairlead.measure import profile_cache
from fairlead.measure.profile_cache import Profile
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.watch.dropped import Dropped

__all__ = ["PlacedRanks", "decide", "plan_placement", "still_holds"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlacedRanks(FeaturePlan):
    """Ranks on the hosts that were decided; None: where the launcher puts them."""

    placement: Placement | None
    cpus: RankCpus | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the ranks are placed."""
        return self.placement is not None

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec]:
        """The start with each rank on its host, and on the CPUs that it would have otherwise."""
        yield dataclasses.replace(spec, placement=self.placement, cpus=self.cpus)


def plan_placement(session: Session, decision: Decision) -> PlacedRanks:
    """The ranks as it was decided; the placement is recorded."""
    taken = decision.placement or session.launchers
    with session.directory.tolerate_failures():
        taken.save(session.directory.file(run_directory.PLACEMENT))
    saved_share = decision.gain.ratio if decision.placement is not None else None
    return PlacedRanks(
        feature="placement",
        why=reason_of(session, decision),
        saved_share=saved_share,
        gain=decision.gain,
        is_considered=session.request.placing.method != "launcher",
        placement=decision.placement,
        cpus=decision.cpus,
    )


def decide(session: Session) -> Decision:
    """A decision kept from an earlier run while nothing has changed, or one made now.

    A placement by which ranks would lose their binding is not used.
    """
    reconsider_dropped(session)
    decision = take_turns(session, _decide(session))
    if decision.placement is None:
        return decision
    started = time.monotonic()
    binding = keep_binding(session, decision.placement)
    decision = dataclasses.replace(
        decision,
        cpus=binding.cpus,
        lost_binding=binding.lost,
        seconds=decision.seconds + time.monotonic() - started,
    )
    if binding.lost is not None:
        return dataclasses.replace(
            decision, placement=None, transfers=_without_placement(decision.transfers)
        )
    return decision


def _decide(session: Session) -> Decision:
    budget_s = None if session.is_network_given else _budget_s(session)
    path = _path(session, session.network)
    kept = load_kept(path, session.cluster)
    if kept is not None and still_holds(kept, session.log.dropped):
        session.narrator.report(
            "decision: reusing that of an earlier run (same program, hosts and network)"
        )
        _write_baseline(session, None)
        session.directory.record(KEPT_DECISION, {"file": path})
        return dataclasses.replace(kept, seconds=session.probe_s, budget_s=budget_s)
    _report_stragglers(session)
    found = search(_problem(session))
    if budget_s is not None:
        budget_s += found.extra_s
    _write_baseline(session, found.by_long_trains)
    placing = session.request.placing
    decision = dataclasses.replace(make_decision(found, placing.rule), budget_s=budget_s)
    decision = decide_transfers(session, decision, found)
    try:
        # What another run has disturbed is used for this run alone.
        is_alone = not session.alongside.others()
        if found.by_long_trains is not None and session.profile_path is not None and is_alone:
            profile_cache.renew(Profile(session.profile_path, found.network, found.by_long_trains))
        # If a saving is likely but too uncertain, the next run has a new budget.
        is_clear = decision.gain.ratio < placing.rule.least_ratio
        is_decided = decision.placement or decision.transfers.is_taken or is_clear
        if is_decided and is_alone and not decision.transfers.is_open:
            path = _path(session, found.network)
            keep(decision, placing.method, path)
            session.directory.record(KEPT_DECISION, {"file": path})
    except InputError as error:
        session.narrator.report_loss(f"decision: not cached for later runs: {error}")
    spent_s = session.probe_s + decision.seconds
    if budget_s is not None:
        budget_s += decision.transfers_budget_s
    return dataclasses.replace(decision, seconds=spent_s, budget_s=budget_s)


def _report_stragglers(session: Session) -> None:
    lines = straggler_lines(session.network)
    if lines and session.objective == SLOWEST_RANK:
        lines.append("what each rank computes is weighed by the speed of its host")
    for line in lines:
        session.narrator.report(f"hosts: {line}")


def _without_placement(transfers: Transfers) -> Transfers:
    """What was decided on relays, where the placement on which they were rehearsed is not used."""
    if not transfers.is_taken:
        return transfers
    return dataclasses.replace(transfers, is_taken=False, why="its placement is not used")


def still_holds(kept: Decision, dropped: Dropped) -> bool:
    """Whether a kept decision is that of this history: the same traffic may be of another input.

    Args:
        kept: The decision.
        dropped: What has proved slower in runs of the program.
    """
    names = dropped.find_placements()
    if kept.transfers.is_taken and dropped.has_relaying(kept.host_names()):
        return False
    if kept.placement is not None:
        return tuple(kept.placement.host_names()) not in names
    return not kept.has_dropped or bool(names)


def _write_baseline(session: Session, by_long_trains: Network | None) -> None:
    """Write into the run's folder the pairs that `fairlead watch` can measure in the same way."""
    if by_long_trains is None and session.profile_path is not None:
        kept = profile_cache.recall(session.profile_path, session.cluster, math.inf)
        by_long_trains = None if kept is None else kept.by_long_trains
    if by_long_trains is not None:
        with session.directory.tolerate_failures():
            by_long_trains.save(session.directory.file(run_directory.MEASURED_AGAIN))


def _path(session: Session, network: Network) -> Path:
    asked = session.request.placing
    by = (asked.method, asked.metric, asked.objective, asked.seed, asked.rule)
    relays = session.request.relays
    options = (by, asked.time_limit_s, asked.uneven, repr(relays), *session.launchers.host_names())
    return decision_path(session.cluster, network, session.traffic, options)


def _problem(session: Session) -> DecisionProblem:
    placing = session.request.placing
    cost = COST_OF_OBJECTIVE[session.objective]
    hosts = session.cluster.hosts
    budget_s = _budget_s(session) - binding_s(session)
    limit_s = mapping_s(budget_s, session.request.num_ranks)

    def cost_s(placement: Placement) -> float:
        return float(getattr(evaluate(placement, session.traffic, session.network), cost))

    dropped = [
        Placement(hosts, np.array([hosts.index(name) for name in names]))
        for names in session.log.dropped.find_placements()
        if set(names) <= set(hosts)
    ]
    return DecisionProblem(
        traffic=session.traffic,
        network=session.network,
        baseline=session.launchers,
        place=lambda network: session.place(placing.method, network, limit_s),
        cost=cost,
        rule=placing.rule,
        is_dropped=dropped_by(dropped, cost_s),
        measurer=_measurer(session),
        budget_s=budget_s - session.probe_s,
        extra_s=EXTRA_S if session.request.network.budget_s is None else 0.0,
        placing_s=limit_s,
        seed=placing.seed,
    )


def _budget_s(session: Session) -> float:
    usual_s = default_budget_s(session.cluster.num_hosts) + binding_s(session)
    return session.request.network.budget_s or usual_s


def _measurer(session: Session) -> HostsMeasurer | None:
    """None if the user gave the network, which is used as it is."""
    if session.is_network_given:
        return None
    return HostsMeasurer(
        session.probe_program,
        session.cluster,
        session.traffic,
        session.network.launch_s,
        session.narrator,
    )
