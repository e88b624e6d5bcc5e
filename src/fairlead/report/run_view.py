# SPDX-License-Identifier: Apache-2.0
"""The decision of `fairlead run` as facts for JSON; `flows/run/announcement.py` has the text."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairlead.flows.run.announcement import Announcement
from fairlead.flows.run.collectives import ScheduledCollectives
from fairlead.flows.run.features import FeaturePlan
from fairlead.measure.known_inputs import KnownInput
from fairlead.report import tune_view

_FACTS = (
    *("method", "kept_launcher_placement", "gain", "rehearsed_rounds", "decision_is_kept"),
    *("deciding_s", "budget_s", "predicted_s", "host_of_rank", "collectives", "features"),
    *("is_for_next_run", "guess", "run_directory"),
)
"""Names of all facts; those without a value are null."""


def facts(method: str, announcement: Announcement) -> dict[str, Any]:
    """The decision with its expected gain."""
    decision = announcement.decision
    placement = decision.placement
    return {
        "method": method,
        "kept_launcher_placement": placement is None,
        "gain": dataclasses.asdict(decision.gain),
        "rehearsed_rounds": decision.num_rounds,
        "decision_is_kept": decision.is_kept,
        "deciding_s": decision.seconds,
        "budget_s": decision.budget_s,
        "predicted_s": announcement.predicted_s,
        "host_of_rank": None if placement is None else placement.host_names(),
        "collectives": _facts_of_collectives(announcement.plans),
        "features": {plan.feature: plan.facts() for plan in announcement.plans}
        | dict(announcement.first_levers),
        "is_for_next_run": announcement.is_for_next_run,
        "guess": _facts_of_guess(announcement.guess),
        "run_directory": str(announcement.directory),
    }


def _facts_of_guess(guess: KnownInput | None) -> dict[str, Any] | None:
    """The input for whose traffic this one's was taken."""
    if guess is None:
        return None
    return {"arguments": list(guess.arguments), "num_ranks": guess.num_ranks}


def _facts_of_collectives(plans: Sequence[FeaturePlan]) -> dict[str, Any] | None:
    for plan in plans:
        if isinstance(plan, ScheduledCollectives):
            tuning = plan.collectives.tuning
            return {
                "rules": tune_view.facts_of_rules(plan.collectives.rules),
                "tuning": None if tuning is None else tune_view.facts(tuning),
            }
    return None


def facts_of_one_host(folder: Path) -> dict[str, Any]:
    """The same for one host, where there is nothing to decide."""
    return dict.fromkeys(_FACTS) | {
        "method": "launcher",
        "kept_launcher_placement": True,
        "features": {},
        "is_for_next_run": False,
        "run_directory": str(folder),
    }


def facts_of_undecided(why: str, folder: Path) -> dict[str, Any]:
    """The same for a first run after which nothing could be decided for the next one."""
    return dict.fromkeys(_FACTS) | {
        "features": {},
        "is_for_next_run": True,
        "undecided": why,
        "run_directory": str(folder),
    }
