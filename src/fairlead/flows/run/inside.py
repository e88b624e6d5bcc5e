# SPDX-License-Identifier: Apache-2.0
"""Ranks that exchange much get CPUs near each other, inside the hosts where they are.

Each host's ranks keep the lists of CPUs that the launcher gives there: which rank has which is
changed, and nothing else, so that binding, sockets and threads stay as the user chose them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairlead.act.launch import LaunchSpec, RankCpus
from fairlead.decide.decision import Decision
from fairlead.decide.inside import METHODS_INSIDE, HostPlaces, map_inside, places_of
from fairlead.decide.kept_decisions import decision_path
from fairlead.errors import TopologyError
from fairlead.flows.inputs.session import Session
from fairlead.flows.run.features import FeaturePlan
from fairlead.flows.run.inside_trial import STEPS, FoundMapping, InsideSteps, Trial, try_mapping
from fairlead.model.placement import Placement

__all__ = ["RanksInside", "decision_of_run", "plan_inside"]

FEATURE = "inside"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RanksInside(FeaturePlan):
    """CPUs for each rank.

    Attributes:
        placement: A host for each rank, as it is without this feature.
        cpus: CPUs of each rank; None where they stay the launcher's.
        num_rounds: Rounds of rehearsal behind the gain.
        is_placement_lost: Whether the hosts have lost CPUs on which the placement was to run, so
            that the program starts as by the launcher alone.
    """

    placement: Placement | None = None
    cpus: RankCpus | None = None
    num_rounds: int = 0
    is_placement_lost: bool = False

    @property
    def is_taken(self) -> bool:
        """Whether ranks have other CPUs than by the launcher."""
        return self.cpus is not None

    def facts(self) -> dict[str, Any]:
        """The plan for the record."""
        lists = None if self.cpus is None else list(self.cpus.lists)
        return super().facts() | {"rehearsed_rounds": self.num_rounds, "cpus_of_rank": lists}

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec]:
        """The start with each rank on its CPUs."""
        if self.is_placement_lost:
            yield dataclasses.replace(spec, placement=None, cpus=None)
        elif self.cpus is None:
            yield spec
        else:
            yield dataclasses.replace(spec, placement=self.placement, cpus=self.cpus)


def plan_inside(session: Session, decision: Decision, steps: InsideSteps = STEPS) -> RanksInside:
    """Whether ranks exchange their CPUs inside the hosts where they are."""
    try:
        found = _find(session, decision)
    except TopologyError as error:
        session.narrator.report(f"inside of hosts: not used: {error}")
        return _left(str(error))
    if isinstance(found, str):
        return _left(found)
    rule = session.request.placing.rule
    gain = found.expected_gain()
    if not found.mapping.is_changed or not rule.accepts(gain):
        why = f"no other order of CPUs is expected to save {rule.least_ratio:.0%}"
        saved_share = max(0.0, gain.ratio)
        return RanksInside(feature=FEATURE, why=why, saved_share=saved_share, gain=gain)
    return _plan_of(session, found, try_mapping(session, decision, found, steps))


def decision_of_run(decision: Decision, plans: Sequence[FeaturePlan]) -> Decision:
    """The decision as the program was started: without its placement where that was lost."""
    if any(isinstance(plan, RanksInside) and plan.is_placement_lost for plan in plans):
        return dataclasses.replace(decision, placement=None)
    return decision


def _plan_of(session: Session, found: FoundMapping, trial: Trial) -> RanksInside:
    """The plan after a trial, of which the user gets a line."""
    if trial.problem:
        session.narrator.report(f"inside of hosts: ranks keep the launcher's CPUs: {trial.problem}")
    elif trial.cpus is not None:
        session.narrator.report(f"inside of hosts: {trial.why}")
    return RanksInside(
        feature=FEATURE,
        why=trial.problem or trial.why,
        saved_share=None if trial.gain is None else trial.gain.ratio,
        gain=trial.gain,
        placement=None if trial.cpus is None else found.placement,
        cpus=trial.cpus,
        num_rounds=trial.num_rounds,
        is_placement_lost=trial.is_placement_lost,
    )


def _left(why: str) -> RanksInside:
    return RanksInside(feature=FEATURE, why=why, is_considered=False)


def _find(session: Session, decision: Decision) -> FoundMapping | str:
    """A mapping of ranks to CPUs; or why there is nothing to map.

    Raises:
        TopologyError: The inside of a host on which it depends is not known.
    """
    asked = session.request.placing
    if why := _reason_against(session, decision):
        return why
    placement = decision.placement or session.launchers
    usual = _usual_lists(session, decision, placement)
    if usual is None:
        return "the CPUs that the launcher gives to ranks are not known"
    hosts = places_of(placement, usual, session.network.insides)
    if not hosts:
        return _reason_without_places(placement, usual)
    if unmeasured := [one for one in hosts if not one.inside.rates]:
        raise TopologyError(_reason_unmeasured(unmeasured[0]))
    mapping = map_inside(
        hosts, usual, session.traffic,
        method=asked.method, metric=asked.metric, objective=asked.objective, seed=asked.seed,
    )  # fmt: skip
    network_s = decision.network_s
    if decision.placement is not None:
        network_s *= 1 - decision.gain.ratio
    return FoundMapping(
        placement, usual, hosts, mapping, max(network_s, 0.0), _path(session, placement, usual)
    )


def _reason_unmeasured(places: HostPlaces) -> str:
    why = f": {places.inside.problem}" if places.inside.problem else ""
    return f"the levels inside {places.host} were not measured{why}"


def _path(session: Session, placement: Placement, usual: Sequence[str]) -> Path:
    """File in which the outcome of a rehearsal is kept."""
    asked = session.request.placing
    insides = [(host, inside.facts()) for host, inside in session.network.insides.items()]
    by = (FEATURE, asked.method, asked.metric, asked.objective, asked.seed, asked.rule)
    started = (str(session.launcher.path), *session.request.launcher.arguments)
    options = (*by, *started, repr(insides), *placement.host_names(), *usual)
    return decision_path(session.cluster, session.network, session.traffic, options)


def _reason_against(session: Session, decision: Decision) -> str:
    """Why nothing is looked for; empty where something is."""
    asked = session.request.placing
    if not asked.inside:
        return "not asked for"
    if asked.method not in METHODS_INSIDE:
        return f"the method {asked.method} has no use for it"
    if not session.network.insides:
        return "the network has nothing of the inside of hosts"
    if session.log.dropped.has_inside(decision.host_names()):
        return "other CPUs of the launcher's have proved slower in earlier runs"
    runs = session.log.kept.compare_inside(decision.host_names())
    if runs.is_reference_next:
        return f"other CPUs may be slower, and take turns with the launcher's: {runs.line()}"
    return ""


def _reason_without_places(placement: Placement, usual: Sequence[str]) -> str:
    lists_of_host = [{usual[rank] for rank in placement.ranks_on(host)} for host in placement.hosts]
    if all(len(lists) < 2 for lists in lists_of_host):
        return "no two ranks of a host are bound to different CPUs"
    return "the CPUs of each host are equally near"


def _usual_lists(
    session: Session, decision: Decision, placement: Placement
) -> tuple[str, ...] | None:
    """CPUs of each rank without this feature; None where they are not known."""
    if decision.cpus is not None:
        return decision.cpus.lists
    own = session.launchers_cpus
    if not own or not all(own):
        return None
    if decision.placement is None:
        return own
    lists_of_host: dict[str, list[str]] = {}
    for host, cpus in zip(session.launchers.host_names(), own, strict=True):
        lists_of_host.setdefault(host, []).append(cpus)
    chosen: list[str] = []
    taken = dict.fromkeys(lists_of_host, 0)
    for host in placement.host_names():
        lists = lists_of_host.get(host, [])
        at = taken.get(host, 0)
        if at >= len(lists) and len(set(lists)) != 1:
            return None
        chosen.append(lists[min(at, len(lists) - 1)])
        taken[host] = at + 1
    return tuple(chosen)
