# SPDX-License-Identifier: Apache-2.0
"""A run that measures hosts, or times a program on them, and the user's other runs there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from fairlead.measure.profile_cache import lab_facts
from fairlead.narrator import Narrator
from fairlead.watch.concurrent_runs import ConcurrentRuns, announce_run

__all__ = ["announce_to_others"]


@contextlib.contextmanager
def announce_to_others(
    hosts: Sequence[str], name: str, narrator: Narrator | None = None
) -> Iterator[ConcurrentRuns]:
    """Other runs see this one while the block runs, and those that are there get a mark.

    Args:
        hosts: The hosts of this one.
        name: Its program, as the users of the others read it.
        narrator: Reports the others; None where nothing is measured that they could disturb.
    """
    with announce_run(hosts, name, lab_facts()) as alongside:
        others = alongside.others()
        if others and narrator is not None:
            narrator.report(
                f"another run of yours ({', '.join(sorted(set(others)))}) has some of these hosts: "
                "what is measured now is not kept for later runs, nor does the time of this run "
                "count against a placement"
            )
        yield alongside
