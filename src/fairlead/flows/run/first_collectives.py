# SPDX-License-Identifier: Apache-2.0
"""Collectives of a first run: schedules that were only predicted, compared while it runs."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from fairlead.act.launch import LaunchSpec
from fairlead.act.plan.collectives import CollectivesPlan
from fairlead.decide.collectives.untimed import Promise, UntimedSchedules, choose_untimed
from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.noise import with_pooled_noise
from fairlead.flows.inputs.session import Session
from fairlead.flows.run.collectives import follow_plan
from fairlead.flows.run.features import FeaturePlan, with_variables
from fairlead.model.collective_rule import DEFAULT_DRIFT, TunedCollectives
from fairlead.model.network import Network
from fairlead.units import format_duration, format_size
from fairlead.watch.collective_drift import drift_counts
from fairlead.watch.tried_schedules import TriedSchedule, load_tried

__all__ = ["TriedSchedules", "plan_first_collectives", "tried_sentence"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TriedSchedules(FeaturePlan):
    """Schedules that the program's own calls are compared with.

    Attributes:
        session: The network, and where the launcher places the ranks.
        network: On which they are planned.
        chosen: What was predicted.
    """

    session: Session
    network: Network
    chosen: UntimedSchedules

    @property
    def is_taken(self) -> bool:
        """Whether any schedule may be used."""
        return bool(self.chosen.taken)

    def facts(self) -> dict[str, Any]:
        """The plan for the record, with what was predicted of each call."""
        promises = [_facts_of(one) for one in self.chosen.promises]
        return super().facts() | {"predicted": promises, "predicting_s": self.chosen.seconds}

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec | None]:
        """The start with the library, which reads the rules."""
        rules = TunedCollectives(
            self.session.request.num_ranks, tuple(self.chosen.rules), drift=DEFAULT_DRIFT
        )
        variables = follow_plan(self.session, CollectivesPlan(self.network, rules))
        yield with_variables(spec, variables) if variables else None

    def outcome(self) -> dict[str, Any]:
        """Which schedules were compared, and used."""
        folder = self.session.directory.path
        drift, tried = drift_counts(folder), load_tried(folder)
        self.session.narrator.report(f"collectives: {tried_sentence(tried)}")
        return {
            "schedules": [one.model_dump() for one in tried],
            **({} if drift is None else {"drift": drift.model_dump()}),
        }


def plan_first_collectives(session: Session) -> FeaturePlan:
    """Schedules of which predictions alone promise enough.

    Raises:
        Error: The network does not say what has to be known.
    """
    if session.log.dropped.has_tuning(None):
        return _without("tuned ones have proved slower in earlier runs")
    placement = session.launchers
    if len(set(placement.host_of_rank.tolist())) < 2:
        return _without("all ranks are on one host")
    network = remove_noise(with_pooled_noise(session.network))
    chosen = choose_untimed(network, placement)
    if not chosen.taken:
        return dataclasses.replace(
            _without(
                "by the measured rates no schedule saves as much of a call's time as such "
                "predictions were off"
            ),
            is_considered=True,
        )
    why = (
        f"by the measured rates schedules take {_savings(chosen.taken)} less time for "
        f"{_calls(chosen.taken)}; they are compared with the MPI's own calls while the program "
        f"runs (predicted in {format_duration(chosen.seconds)})"
    )
    return TriedSchedules(
        feature="collectives", why=why, session=session, network=network, chosen=chosen
    )


def tried_sentence(tried: Sequence[TriedSchedule]) -> str:
    """What became of the schedules of a run, for a user."""
    if not tried:
        return "all by the MPI; no call was made often enough to compare schedules"
    left = {_call(one) for one in tried if one.end == "left"}
    parts = []
    for end, what in _ENDS.items():
        of_end = (
            one for one in tried if one.end == end and (not one.is_used or _call(one) not in left)
        )
        calls = dict.fromkeys(_describe(one) for one in of_end)
        parts += [f"{what} {', '.join(calls)}"] if calls else []
    return "; ".join(parts)


_ENDS = {
    "used": "by schedules",
    "left": "by the MPI again, as it became faster,",
    "slower": "by the MPI, as no schedule was faster,",
    "unpromising": "by the MPI, as the expected saving is too small,",
}


def _call(one: TriedSchedule) -> str:
    return f"{one.operation} of {format_size(one.message_bytes)}"


def _describe(one: TriedSchedule) -> str:
    if not one.is_used:
        return _call(one)
    return f"{_call(one)} by {one.method} ({one.saved_ratio:.0%} less time)"


def _facts_of(one: Promise) -> dict[str, Any]:
    return {
        "operation": one.kind.operation,
        "message_bytes": one.kind.message_bytes,
        "method": one.method,
        "native_s": one.native_s,
        "schedule_s": one.schedule_s,
        "is_taken": one.is_enough,
    }


def _savings(taken: Sequence[Promise]) -> str:
    low, high = (pick(one.saved_ratio for one in taken) for pick in (min, max))
    return f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"


def _calls(taken: Sequence[Promise]) -> str:
    sizes = sorted(one.kind.message_bytes for one in taken)
    operations = ", ".join(dict.fromkeys(one.kind.operation for one in taken))
    return f"{operations} of {format_size(sizes[0])} to {format_size(sizes[-1])}"


def _without(why: str) -> FeaturePlan:
    return FeaturePlan(feature="collectives", why=why)
