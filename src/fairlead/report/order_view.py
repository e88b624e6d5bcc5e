# SPDX-License-Identifier: Apache-2.0
"""An order of hosts: what is expected of it, which hosts are bad or left out."""

from __future__ import annotations

import dataclasses
from typing import Any

from fairlead.decide.order import LEAST_GAIN_RATIO, Ordering
from fairlead.report.plain import plain
from fairlead.units import format_duration

__all__ = ["facts", "lines"]


def facts(ordering: Ordering, pattern: str, took_s: float) -> dict[str, Any]:
    """The order as JSON."""
    return {
        "pattern": pattern,
        "hosts": list(ordering.hosts),
        "slots": list(ordering.slots),
        "given": list(ordering.given),
        "is_kept": ordering.is_kept,
        "left_out": list(ordering.left_out),
        "bad_hosts": [bad.host for bad in ordering.bad_hosts],
        "gain": plain(dataclasses.asdict(ordering.gain)),
        "is_rehearsed": ordering.is_rehearsed,
        "took_s": took_s,
    }


def lines(ordering: Ordering, pattern: str, took_s: float) -> list[str]:
    """The same in sentences."""
    said = [f"order: {_outcome(ordering, pattern)}; took {format_duration(took_s)}"]
    if ordering.left_out:
        said.append(f"order: left out: {', '.join(ordering.left_out)}")
    if ordering.bad_hosts:
        names = ",".join(bad.host for bad in ordering.bad_hosts)
        said.append(f"order: slow to or from most other hosts: {', '.join(_bad(ordering))}")
        said.append(f"order: to keep Slurm from using them: --exclude={names}")
    return said


def _outcome(ordering: Ordering, pattern: str) -> str:
    gain = ordering.gain
    how = "by its own messages in turns" if ordering.is_rehearsed else "as predicted"
    if ordering.is_kept:
        if gain.ratio == 0:
            return f"the given order is kept: no better one was found for {pattern}"
        return (
            f"the given order is kept: in the best one found {pattern} takes "
            f"{1 - gain.ratio:.2f}{_interval(ordering)} of its time, {how}, and "
            f"{1 - LEAST_GAIN_RATIO:.2f} with an interval below 1 is needed"
        )
    return (
        f"{pattern} takes {1 - gain.ratio:.2f}{_interval(ordering)} of the time that it takes in "
        f"the given order, {how}"
    )


def _interval(ordering: Ordering) -> str:
    gain = ordering.gain
    if not ordering.is_rehearsed:
        return ""
    return f" [{1 - gain.high_ratio:.2f}, {1 - gain.low_ratio:.2f}]"


def _bad(ordering: Ordering) -> list[str]:
    return [
        f"{bad.host} ({max(symptom.ratio for symptom in bad.symptoms):.1f} times)"
        if bad.symptoms
        else bad.host
        for bad in ordering.bad_hosts
    ]
