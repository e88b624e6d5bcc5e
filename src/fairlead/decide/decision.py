# SPDX-License-Identifier: Apache-2.0
"""The placement of a program: the rule applied to the results of a search."""

from __future__ import annotations

import dataclasses

from fairlead.act.launch import RankCpus
from fairlead.decide.expected_gain import Gain
from fairlead.decide.rule import Rule
from fairlead.decide.search import SearchResult
from fairlead.decide.transfers import NOT_CONSIDERED, Transfers
from fairlead.model.placement import Placement

__all__ = ["Decision", "make_decision"]


@dataclasses.dataclass(frozen=True)
class Decision:
    """The placement of the program, and the evidence for it.

    Attributes:
        placement: The placement; None keeps the launcher's own.
        gain: What the best placement saves against the launcher's, as part of the time on the
            network; zero where none was found that differs.
        network_s: Time on the network of a whole run with the launcher's placement.
        num_rounds: Rounds of rehearsal behind the gain; 0 where it is predicted only.
        is_kept: Whether it was decided in an earlier run.
        has_dropped: Whether a placement was rejected because it had proved slower.
        seconds: Time for measuring and deciding in this run.
        cpus: CPUs of the ranks; None leaves them to the launcher.
        lost_binding: Why the placement is not used: its ranks would get other CPUs than by the
            launcher; None where that is not so.
        budget_s: Time allowed for that; None where nothing is measured, as the network was given.
        taking_turns: The runs because of which the launcher's placement takes turns with the one
            found, which may be slower; empty where it does not.
        transfers: What was decided on relays.
        transfers_budget_s: Time allowed for that in addition.
    """

    placement: Placement | None
    gain: Gain
    network_s: float
    num_rounds: int = 0
    is_kept: bool = False
    has_dropped: bool = False
    seconds: float = 0.0
    budget_s: float | None = None
    cpus: RankCpus | None = None
    lost_binding: str | None = None
    taking_turns: str = ""
    transfers: Transfers = NOT_CONSIDERED
    transfers_budget_s: float = 0.0

    def host_names(self) -> list[str] | None:
        """Host of each rank; None keeps the launcher's own placement."""
        return None if self.placement is None else self.placement.host_names()

    def predicted_s(self, launcher_s: float | None) -> float | None:
        """Expected time of the run, if the time on the launcher's placement is known."""
        if launcher_s is None:
            return None
        if self.transfers.is_taken and self.transfers.whole_gain is not None:
            return launcher_s - min(self.network_s, launcher_s) * self.transfers.whole_gain.ratio
        if self.placement is None:
            return launcher_s
        return launcher_s - min(self.network_s, launcher_s) * self.gain.ratio


def make_decision(found: SearchResult, rule: Rule) -> Decision:
    """The decision on the results of a search.

    Args:
        found: Candidates, each with its gain.
        rule: When one is used.
    """
    best, is_taken = rule.best([candidate.gain for candidate in found.candidates])
    if best is None:
        gain, placement, num_rounds = Gain(0.0, 0.0, 0.0), None, 0
    else:
        candidate = found.candidates[best]
        gain, num_rounds = candidate.gain, candidate.num_rounds
        placement = candidate.placement if is_taken else None
    return Decision(
        placement,
        gain,
        found.network_s,
        num_rounds,
        has_dropped=found.has_met_dropped,
        seconds=found.seconds,
    )
