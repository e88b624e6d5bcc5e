# SPDX-License-Identifier: Apache-2.0
"""The decision as it is printed before the program starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import TOLERATED_RATIO, Gain
from fairlead.decide.placement import SLOWEST_RANK
from fairlead.decide.rule import Rule
from fairlead.flows.inputs.session import Session
from fairlead.flows.run.features import FeaturePlan
from fairlead.measure.known_inputs import KnownInput
from fairlead.units import format_duration
from fairlead.watch.history import History

__all__ = [
    "Announcement",
    "announcement_of",
    "announcement_of_next_run",
    "decision_line",
    "is_inside",
    "is_relayed",
    "is_tuned",
    "reason_of",
]


@dataclasses.dataclass(frozen=True)
class Announcement:
    """What is printed before the program starts.

    Attributes:
        decision: The placement and the evidence for it.
        predicted_s: Expected time of the run; None without earlier runs.
        line: The decision in one line.
        directory: Folder of the run's record.
        plans: What each feature does.
        guess: The input for whose traffic this one's was taken; None where it was known.
        is_for_next_run: Whether the run that was asked for has ended already, as the traced one.
        first_levers: The plan of each lever that this run had then, by its name.
    """

    decision: Decision
    predicted_s: float | None
    line: str
    directory: Path
    plans: tuple[FeaturePlan, ...] = ()
    is_for_next_run: bool = False
    first_levers: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    guess: KnownInput | None = None


def is_tuned(plans: Sequence[FeaturePlan]) -> bool:
    """Whether collectives follow schedules."""
    return any(plan.feature == "collectives" and plan.is_taken for plan in plans)


def is_relayed(plans: Sequence[FeaturePlan]) -> bool:
    """Whether large messages may be relayed."""
    return any(plan.feature == "relays" and plan.is_taken for plan in plans)


def is_inside(plans: Sequence[FeaturePlan]) -> bool:
    """Whether ranks have other CPUs of the launcher's."""
    return any(plan.feature == "inside" and plan.is_taken for plan in plans)


def announcement_of(
    session: Session, decision: Decision, plans: Sequence[FeaturePlan]
) -> Announcement:
    """The decision as it is printed; it is recorded with the plan of each feature."""
    predicted_s = _predict_s(decision, plans, session.log.kept)
    line = decision_line(session, decision)
    levers = {plan.feature: plan.facts() for plan in plans}
    session.directory.record("decision", _facts(session, decision, line) | {"levers": levers})
    session.directory.record("expected", {"predicted_s": predicted_s, "features": levers})
    return Announcement(
        *(decision, predicted_s, line, session.directory.path, tuple(plans)),
        guess=session.program.guess,
    )


def announcement_of_next_run(session: Session, decision: Decision) -> Announcement:
    """What is expected of the next run; this one was placed by the launcher."""
    line = f"next run: {decision_line(session, decision)}"
    predicted_s = decision.predicted_s(session.log.kept.launcher_s())
    levers = session.first_run.levers()
    session.directory.record(
        "decision", {"method": "launcher", "kept_launcher_placement": True, "levers": levers}
    )
    session.directory.record(
        "next_run",
        _facts(session, decision, line)
        | {"predicted_s": predicted_s, "relays": dataclasses.asdict(decision.transfers)},
    )
    return Announcement(
        *(decision, predicted_s, line, session.directory.path),
        is_for_next_run=True,
        first_levers=levers,
    )


def _facts(session: Session, decision: Decision, line: str) -> dict[str, Any]:
    return {
        "method": session.request.placing.method,
        "kept_launcher_placement": decision.placement is None,
        "gain": dataclasses.asdict(decision.gain),
        "rehearsed_rounds": decision.num_rounds,
        "combinations": [dataclasses.asdict(one) for one in decision.transfers.tried],
        "is_kept": decision.is_kept,
        "deciding_s": decision.seconds,
        "budget_s": decision.budget_s,
        "line": line,
    }


def _predict_s(decision: Decision, plans: Sequence[FeaturePlan], history: History) -> float | None:
    """Expected time of the run, by runs with the same plans or by what each is to save."""
    predicted_s = decision.predicted_s(history.launcher_s())
    if not (is_tuned(plans) or is_relayed(plans) or is_inside(plans)):
        return predicted_s
    usual_s = history.usual_s(
        decision.host_names(),
        is_tuned=is_tuned(plans),
        is_relayed=is_relayed(plans),
        is_inside=is_inside(plans),
    )
    if usual_s is not None or predicted_s is None:
        return usual_s
    for plan in plans:
        # What the placement and relays save is in the decision's own prediction.
        if plan.feature not in ("placement", "relays"):
            predicted_s *= 1 - (plan.saved_share or 0.0)
    return predicted_s


def decision_line(session: Session, decision: Decision) -> str:
    """The decision in one line."""
    if decision.seconds:
        spent = f"deciding took {format_duration(decision.seconds)}"
        if decision.budget_s is not None:
            spent += f" (budget {format_duration(decision.budget_s)})"
    else:
        spent = "nothing had to be measured"
    program = session.program
    if program.trace_s and not program.is_users_run:
        spent += f", tracing {format_duration(program.trace_s)}"
    return f"{reason_of(session, decision)}; {spent}"


def reason_of(session: Session, decision: Decision) -> str:
    """Where the ranks run, and why."""
    method, rule = session.request.placing.method, session.request.placing.rule
    if method == "launcher":
        return "the launcher's placement was asked for"
    gain, num_rounds = decision.gain, decision.num_rounds
    relayed = ", with relays" if decision.transfers.is_taken else ""
    how = f"{num_rounds} rehearsals" if num_rounds else session.basis
    where = (
        "computing and on the network" if session.objective == SLOWEST_RANK else "on the network"
    )
    saved = (
        f"{_gain_clause(gain)} {where} by {how}, risk of losing more than "
        f"{TOLERATED_RATIO:.0%} is {gain.loss_risk:.1%}"
    )
    if decision.placement is not None:
        return f"placed by {method}{relayed}: {saved}"
    kept = f"the launcher's placement is kept{relayed}"
    return f"{kept}: {saved if relayed else _reason_to_keep(decision, rule, method, saved)}"


def _reason_to_keep(decision: Decision, rule: Rule, method: str, saved: str) -> str:
    """Why the launcher's placement is used, without relays."""
    gain = decision.gain
    if decision.lost_binding is not None:
        return f"on that of {method} {decision.lost_binding}"
    if decision.taking_turns:
        return f"it takes turns with that of {method}, which may be slower: {decision.taking_turns}"
    if decision.has_dropped:
        return f"that of {method} has proved slower"
    if rule.is_hopeless(gain):
        return f"no placement is expected to save {rule.least_ratio:.0%}"
    why = (
        f"a loss of more than {TOLERATED_RATIO:.0%} is likelier than {rule.risk:.0%}"
        if gain.loss_risk > rule.risk
        else f"less than {rule.least_ratio:.0%}"
    )
    return f"{method} would take {saved}: {why}"


def _gain_clause(gain: Gain) -> str:
    """Such as "46% [40%, 51%] less time", or "2% [-1%, 5%] more time"."""
    is_loss = gain.ratio < 0
    ends = (gain.low_ratio, gain.high_ratio)
    low, high = sorted(-end for end in ends) if is_loss else ends
    return f"{abs(gain.ratio):.0%} [{low:.0%}, {high:.0%}] {'more' if is_loss else 'less'} time"
