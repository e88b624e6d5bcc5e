# SPDX-License-Identifier: Apache-2.0
"""A run that measures hosts, or times a program on them, and the user's other runs there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from fairlead.measure.profile_cache import lab_facts
from fairlead.narrator import Narrator
from fairlead.watch.concurrent_runs import ConcurrentRuns, announce_run

__all__ = ["EFFECT_ON_RESULT", "announce_to_others"]

EFFECT_ON_RUN = (
    "what is measured now is not kept for later runs, nor does the time of this run count against "
    "a placement"
)
"""What other runs mean for a run of a program."""

EFFECT_ON_RESULT = "what is measured now has their load in it"
"""What they mean where the measurement is the result."""


@contextlib.contextmanager
def announce_to_others(
    hosts: Sequence[str], name: str, narrator: Narrator | None = None, effect: str = EFFECT_ON_RUN
) -> Iterator[ConcurrentRuns]:
    """Other runs see this one while the block runs, and those that are there get a mark.

    Args:
        hosts: The hosts of this one.
        name: Its program, as the users of the others read it.
        narrator: Reports the others; None where nothing is measured that they could disturb.
        effect: What the others mean for this one, for the report.
    """
    with announce_run(hosts, name, lab_facts()) as alongside:
        others = alongside.others()
        if others and narrator is not None:
            narrator.report(
                f"another run of yours ({', '.join(sorted(set(others)))}) has some of these hosts: "
                f"{effect}"
            )
        yield alongside
