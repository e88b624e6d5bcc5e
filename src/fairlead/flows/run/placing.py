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
from fairlead.decide.decision import Decision, judged
from fairlead.decide.kept_decisions import decision_path, keep, recalled
from fairlead.decide.measurer import HostsMeasurer
from fairlead.decide.placement import COST_OF_OBJECTIVE
from fairlead.decide.rule import barred_by
from fairlead.decide.search import DecisionProblem, default_budget_s, mapping_s, search
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.flows.inputs.binding import keep_binding
from fairlead.flows.inputs.session import Session
from fairlead.flows.run.announcement import reason_of
from fairlead.flows.run.features import FeaturePlan
from fairlead.measure import profile_cache
from fairlead.measure.profile_cache import Profile
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.watch.history import History

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
    with session.directory.losing():
        taken.save(session.directory.file(run_directory.PLACEMENT))
    saved_share = decision.gain.ratio if decision.placement is not None else None
    return PlacedRanks(
        feature="placement",
        why=reason_of(session, decision),
        saved_share=saved_share,
        placement=decision.placement,
        cpus=decision.cpus,
    )


def decide(session: Session) -> Decision:
    """A decision kept from an earlier run while nothing has changed, or one made now.

    A placement by which ranks would lose their binding is not used.
    """
    decision = _decide(session)
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
        return dataclasses.replace(decision, placement=None)
    return decision


def _decide(session: Session) -> Decision:
    history = session.log.kept
    budget_s = None if session.is_network_given else _budget_s(session)
    kept = recalled(_path(session, session.network), session.cluster)
    if kept is not None and still_holds(kept, history):
        session.narrator.tell(
            "decision: kept from an earlier run; program, hosts and network are the same"
        )
        _write_baseline(session, None)
        return dataclasses.replace(kept, seconds=session.probe_s, budget_s=budget_s)
    found = search(_problem(session, history))
    _write_baseline(session, found.by_long_trains)
    placing = session.request.placing
    decision = judged(found, placing.rule)
    try:
        if found.by_long_trains is not None and session.profile_path is not None:
            profile_cache.renew(Profile(session.profile_path, found.network, found.by_long_trains))
        # If a saving is likely but too uncertain, the next run has a new budget.
        if decision.placement or decision.gain.ratio < placing.rule.least_ratio:
            keep(decision, placing.method, _path(session, found.network))
    except InputError as error:
        session.narrator.tell(f"decision: not kept for later runs: {error}")
    spent_s = session.probe_s + decision.seconds
    return dataclasses.replace(decision, seconds=spent_s, budget_s=budget_s)


def still_holds(kept: Decision, history: History) -> bool:
    """Whether a kept decision is that of this history: the same traffic may be of another input."""
    if kept.placement is not None:
        return not history.has_proved_slower(kept.placement)
    return not kept.is_barred or bool(history.dropped())


def _write_baseline(session: Session, by_long_trains: Network | None) -> None:
    """Write into the run's folder the pairs that `fairlead watch` can measure in the same way."""
    if by_long_trains is None and session.profile_path is not None:
        kept = profile_cache.recall(session.profile_path, session.cluster, math.inf)
        by_long_trains = None if kept is None else kept.by_long_trains
    if by_long_trains is not None:
        with session.directory.losing():
            by_long_trains.save(session.directory.file(run_directory.MEASURED_AGAIN))


def _path(session: Session, network: Network) -> Path:
    asked = session.request.placing
    by = (asked.method, asked.metric, asked.objective, asked.seed, asked.rule)
    options = (by, asked.time_limit_s, *session.launchers.host_names())
    return decision_path(session.cluster, network, session.traffic, options)


def _problem(session: Session, history: History) -> DecisionProblem:
    placing = session.request.placing
    cost = COST_OF_OBJECTIVE[placing.objective]
    hosts = session.cluster.hosts
    budget_s = _budget_s(session)
    limit_s = mapping_s(budget_s, session.request.num_ranks)

    def cost_s(placement: Placement) -> float:
        return float(getattr(evaluate(placement, session.traffic, session.network), cost))

    dropped = [
        Placement(hosts, np.array([hosts.index(name) for name in names]))
        for names in history.dropped()
        if set(names) <= set(hosts)
    ]
    return DecisionProblem(
        traffic=session.traffic,
        network=session.network,
        baseline=session.launchers,
        place=lambda network: session.place(placing.method, network, limit_s),
        cost=cost,
        rule=placing.rule,
        is_barred=barred_by(dropped, cost_s),
        measurer=_measurer(session),
        budget_s=budget_s - session.probe_s,
        placing_s=limit_s,
        seed=placing.seed,
    )


def _budget_s(session: Session) -> float:
    return session.request.network.budget_s or default_budget_s(session.cluster.num_hosts)


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
