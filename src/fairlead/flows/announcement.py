# SPDX-License-Identifier: Apache-2.0
"""The decision as it is printed before the program starts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import TOLERATED_RATIO
from fairlead.decide.rule import Rule
from fairlead.flows.collectives_of_run import RunCollectives
from fairlead.flows.inputs import Prepared
from fairlead.units import format_duration

__all__ = ["Announcement", "decision_line"]


@dataclasses.dataclass(frozen=True)
class Announcement:
    """What is printed before the program starts.

    Attributes:
        decision: The placement and the evidence for it.
        predicted_s: Expected time of the run; None without earlier runs.
        line: The decision in one line.
        directory: Folder of the run's record.
        collectives: How the program's collectives were decided; None where nothing was.
    """

    decision: Decision
    predicted_s: float | None
    line: str
    directory: Path
    collectives: RunCollectives | None = None


def decision_line(prepared: Prepared, rule: Rule, method: str, decision: Decision) -> str:
    """The decision in one line.

    Args:
        prepared: The measured network and traced traffic.
        rule: The rule of the decision.
        method: The user's method.
        decision: The decision.
    """
    gain = decision.gain
    how = f"{decision.num_rounds} rehearsals" if decision.num_rounds else "the measured rates"
    if decision.seconds:
        spent = f"deciding took {format_duration(decision.seconds)}"
        if decision.budget_s is not None:
            spent += f" (budget {format_duration(decision.budget_s)})"
    else:
        spent = "nothing had to be measured"
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
    if rule.is_hopeless(gain):
        return f"the launcher's placement is kept: nothing worth having is to be gained; {spent}"
    why = (
        f"a loss of more than {TOLERATED_RATIO:.0%} is likelier than {rule.risk:.0%}"
        if gain.loss_risk > rule.risk
        else f"less than {rule.least_ratio:.0%}"
    )
    return f"the launcher's placement is kept: {method} would take {saved}: {why}; {spent}"
