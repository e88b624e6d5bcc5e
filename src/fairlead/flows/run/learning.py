# SPDX-License-Identifier: Apache-2.0
"""What a run has sent corrects what was known of it, or guessed, for the next run."""

from __future__ import annotations

import dataclasses
from typing import Any

from fairlead.errors import Error
from fairlead.files.run_directory import SEEN_TRAFFIC
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.tracing import keep_traffic
from fairlead.measure.known_traffic import MOST_DIFFERENCE, traffic_difference
from fairlead.measure.profile_cache import Stamps
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.coverage import Coverage
from fairlead.model.traffic import Traffic, sum_over_communicators

__all__ = ["Learned", "learn_from_run"]

MOST_VOLUME_RATIO = 1.1
"""Traffic of the same pattern is replaced where its bytes differ by more than this factor."""

MOST_CALLS = 5


@dataclasses.dataclass(frozen=True)
class Learned:
    """What a run has shown about the traffic by which it was placed.

    Attributes:
        difference: Total variation distance of both: 0 alike, 1 disjoint; None: it was not seen.
        is_corrected: Whether the next run uses what was seen.
        guessed_from: Arguments of the input for which this one was taken; None: it was known.
    """

    difference: float | None = None
    is_corrected: bool = False
    guessed_from: tuple[str, ...] | None = None


def learn_from_run(
    session: Session, seen: Traffic | None, inputs: Stamps | None, *, has_ended_well: bool = True
) -> Learned:
    """Keep the traffic of a run where it corrects what was known; the user gets at most one line.

    Whatever goes wrong, the program has run.

    Args:
        session: The run.
        seen: What it has sent; None where that is not known.
        inputs: Result of `profile_cache.input_files` before it.
        has_ended_well: Whether the program has; else the user has another problem than its trace.
    """
    guess = session.program.guess
    guessed_from = None if guess is None else guess.arguments
    if seen is None:
        if guess is not None and has_ended_well:
            session.narrator.report("traffic: this run left no trace; the guess is not checked")
        return Learned(guessed_from=guessed_from)
    coverage = Coverage.of_origin(seen.origin, seen.num_ranks)
    try:
        if coverage is not None:
            return _learn_part(session, seen, inputs, coverage, guessed_from)
        learned = _compare(session, seen, guessed_from)
        session.directory.record("learned", _facts(learned, seen))
        if learned.is_corrected:
            _correct(session, seen, inputs, learned)
    except (Error, OSError, KeyboardInterrupt) as error:
        session.narrator.report(f"traffic: what this run has sent is not kept: {error}")
        return Learned(guessed_from=guessed_from)
    return learned


def _learn_part(
    session: Session,
    seen: Traffic,
    inputs: Stamps | None,
    coverage: Coverage,
    guessed_from: tuple[str, ...] | None,
) -> Learned:
    """Keep the traffic of a part of a run where no more is known; it is compared with nothing.

    A part may send otherwise than the whole.
    """
    is_new = guessed_from is not None or session.program.is_partial
    is_kept = is_new and keep_traffic(
        session.request, session.launcher, session.narrator, inputs or {}, seen
    )
    learned = Learned(None, is_kept, guessed_from)
    session.directory.record("learned", _facts(learned, seen) | {"partial": coverage.facts()})
    if is_kept:
        unchecked = "" if guessed_from is None else "the guess is not checked; "
        session.narrator.report(
            f"traffic: {unchecked}what this run has sent is kept for the next one, "
            f"{coverage.line()}"
        )
    return learned


def _compare(session: Session, seen: Traffic, guessed_from: tuple[str, ...] | None) -> Learned:
    used = session.traffic
    apart = traffic_difference(used, seen)
    used_bytes, seen_bytes = (float(one.carried.bytes.sum()) for one in (used, seen))
    is_other_volume = max(used_bytes, seen_bytes) > MOST_VOLUME_RATIO * min(used_bytes, seen_bytes)
    is_new = session.program.guess is not None or session.program.is_partial
    return Learned(apart, is_new or apart >= MOST_DIFFERENCE or is_other_volume, guessed_from)


def _correct(session: Session, seen: Traffic, inputs: Stamps | None, learned: Learned) -> None:
    request, narrator = session.request, session.narrator
    keep_traffic(request, session.launcher, narrator, inputs or {}, seen)
    if learned.difference is not None and learned.difference >= MOST_DIFFERENCE:
        with session.directory.tolerate_failures():
            seen.save(session.directory.file(SEEN_TRAFFIC))
    if line := _line(session, learned):
        narrator.report(line)


def _line(session: Session, learned: Learned) -> str:
    assert learned.difference is not None
    is_wrong = learned.difference >= MOST_DIFFERENCE
    if session.program.guess is not None:
        found = "was wrong" if is_wrong else "was right"
        then = "; the next run is placed by its own traffic" if is_wrong else ""
        apart = f"{learned.difference:.1%}"
        return f"traffic: the guess {found}: this run's differs from it by {apart}{then}"
    if session.program.is_partial:
        return "traffic: now known of a whole run"
    if not is_wrong:
        return ""
    return (
        f"traffic: this run's differs from that of the traced one by {learned.difference:.1%}; the "
        "next run is placed by this one's"
    )


def _facts(learned: Learned, seen: Traffic) -> dict[str, Any]:
    """The same for the record, with the collectives that took most time."""
    calls = sorted(sum_over_communicators(seen.collectives), key=lambda one: -one.seconds)
    return dataclasses.asdict(learned) | {
        "run_time_s": seen.run_time_s,
        "collectives": [_facts_of_call(call, seen.num_ranks) for call in calls[:MOST_CALLS]],
    }


def _facts_of_call(call: CollectiveCall, num_ranks: int) -> dict[str, Any]:
    return {
        "operation": call.operation,
        "communicator_size": call.communicator_size,
        "message_bytes": call.message_bytes,
        "calls": call.calls,
        "seconds_per_rank": call.seconds / num_ranks,
    }
