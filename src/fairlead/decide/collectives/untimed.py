# SPDX-License-Identifier: Apache-2.0
"""Which schedules may be tried in a running program though none was timed: by their predictions."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.candidates import host_message_bytes
from fairlead.decide.collectives.catalogue import VARIANTS, WITH_ROOT, methods_for
from fairlead.decide.collectives.choosing import Choice, rules_of
from fairlead.decide.collectives.planning import plan, predicted_s
from fairlead.measure.collective_times import TimedCall
from fairlead.model.collective_rule import CollectiveRule
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.schedule import Schedule

__all__ = [
    "MOST_PREDICTING_S",
    "SHOWN_ERRORS",
    "UNTIMED_OPERATIONS",
    "UNTIMED_SIZES",
    "Promise",
    "UntimedSchedules",
    "choose_untimed",
    "predict_native",
    "predict_schedule",
    "shown_error",
]

UNTIMED_OPERATIONS = ("bcast", "reduce", "allreduce", "allgather")
"""As of `fairlead tune`: those in which order and schedule save most."""

UNTIMED_SIZES = tuple(4**exponent << 10 for exponent in (3, 4, 5, 2, 6))
"""Bytes, the likeliest first. Of shorter messages the processors decide, which no prediction
knows."""

MOST_PREDICTING_S = 1.0
"""No further call is predicted after this time."""

LONG_SEGMENTS_BYTES = 1 << 20
"""From this size on segments of 64 KiB were mostly faster, below it those of 8 KiB
(docs/reference/results/collectives-openmpi.md)."""

SHOWN_ERRORS = {
    ("bcast", "forest"): 3.4,
    ("bcast", "pipeline"): 2.9,
    ("reduce", "forest"): 3.4,
    ("allreduce", "forest"): 2.1,
    ("allreduce", "ring"): 1.3,
    ("allgather", "linear"): 1.7,
    ("allgather", "ring"): 1.3,
    ("allgather", "two_level"): 2.2,
}
"""By operation and method: by which factor the predicted ratio of a schedule's time to the MPI's
was too small, in nine of ten calls, or in all where there are at most ten, rounded up
(`bench/collectives/predicted.py`, by the kept figures of two MPIs in three clouds). Where less than
four calls show an error none is known, and nothing is used untimed."""


@dataclasses.dataclass(frozen=True)
class Promise:
    """What predictions say of one call.

    Attributes:
        kind: Kind of the call.
        native_s: By the textbook algorithm, with hosts in the order of the ranks.
        method: By which the schedule is planned.
        schedule_s: Its predicted time.
        is_enough: Whether it saves more than predictions of its kind were off.
    """

    kind: CallKind
    native_s: float
    method: str
    schedule_s: float
    is_enough: bool

    @property
    def saved_ratio(self) -> float:
        """Part of the call's time."""
        return 1 - self.schedule_s / self.native_s


@dataclasses.dataclass(frozen=True)
class UntimedSchedules:
    """Schedules that the calls of a running program may be compared with.

    Attributes:
        promises: All calls that were predicted.
        num_left_out: Those for which the time was too short.
        seconds: That it took.
    """

    promises: tuple[Promise, ...]
    num_left_out: int
    seconds: float

    @property
    def taken(self) -> list[Promise]:
        """Those whose predicted saving is large enough."""
        return [one for one in self.promises if one.is_enough]

    @property
    def rules(self) -> list[CollectiveRule]:
        """The rules that follow: each schedule has to promise as much of the calls as they are."""
        choices = [Choice(one.kind, one.native_s, one.method, is_taken=one.is_enough)
                   for one in self.promises]  # fmt: skip
        return [
            dataclasses.replace(
                rule, least_saved_ratio=1 - 1 / shown_error(rule.operation, rule.method)
            )
            for rule in rules_of(choices)
        ]


def shown_error(operation: str, method: str) -> float:
    """As in `SHOWN_ERRORS`; infinite where none is known."""
    return SHOWN_ERRORS.get((operation, VARIANTS.get(method, method)), math.inf)


def choose_untimed(
    network: Network,
    placement: Placement,
    *,
    operations: Sequence[str] = UNTIMED_OPERATIONS,
    sizes: Sequence[int] = UNTIMED_SIZES,
    budget_s: float = MOST_PREDICTING_S,
    clock: Callable[[], float] = time.monotonic,
) -> UntimedSchedules:
    """Predict calls of all ranks by the MPI and by schedules; nothing is measured.

    Args:
        network: The network; it has the hosts of the placement.
        placement: The hosts of all ranks.
        operations: Names of the operations.
        sizes: Sizes of their calls, the likeliest first.
        budget_s: No further call is predicted after this time.
        clock: Seconds that pass.

    Raises:
        TopologyError: A pair of hosts was not measured.
    """
    began_s = clock()
    calls = list(itertools.product(sizes, operations))
    promises = []
    for size, operation in calls:
        if clock() - began_s > budget_s:
            break
        promises.append(_predict(operation, size, network, placement))
    return UntimedSchedules(tuple(promises), len(calls) - len(promises), clock() - began_s)


def predict_native(operation: str, size: int, network: Network, placement: Placement) -> float:
    """Seconds of a call by the textbook algorithm, with hosts in the order of their ranks."""
    there, ranks_of_host = _in_order_of_ranks(network, placement)
    message_bytes = host_message_bytes(operation, size, ranks_of_host)
    native = plan(operation, there, message_bytes, _root(operation), method="native")
    given = dataclasses.replace(native, order=tuple(range(there.num_hosts)))
    return predicted_s(there, given, None if isinstance(message_bytes, int) else message_bytes)


def predict_schedule(
    operation: str, size: int, network: Network, placement: Placement, method: str
) -> Schedule:
    """A method's schedule of a call of all ranks; its root is the first one."""
    there, ranks_of_host = _in_order_of_ranks(network, placement)
    message_bytes = host_message_bytes(operation, size, ranks_of_host)
    return plan(operation, there, message_bytes, _root(operation), method=method)


def _root(operation: str) -> int | None:
    return 0 if operation in WITH_ROOT else None


def _in_order_of_ranks(network: Network, placement: Placement) -> tuple[Network, list[int]]:
    """The hosts with ranks, that of the first rank first, and how many ranks each has."""
    used, first_rank, counts = np.unique(
        placement.host_of_rank, return_index=True, return_counts=True
    )
    by_rank = np.argsort(first_rank)
    hosts = [placement.hosts[host] for host in used[by_rank]]
    return network.select(hosts), counts[by_rank].tolist()


def _predict(operation: str, size: int, network: Network, placement: Placement) -> Promise:
    """The schedule that is the fastest even if its prediction is as wrong as others were."""
    native_s = predict_native(operation, size, network, placement)
    planned = [
        predict_schedule(operation, size, network, placement, method)
        for method in _methods(operation, size)
    ]
    errors = {schedule.method: shown_error(operation, schedule.method) for schedule in planned}
    best = min(planned, key=lambda schedule: schedule.predicted_s * errors[schedule.method])
    is_enough = best.predicted_s * errors[best.method] < native_s
    kind = CallKind.of(TimedCall(operation, size, tuple(range(placement.num_ranks))), placement)
    return Promise(kind, native_s, best.method, best.predicted_s, is_enough)


def _methods(operation: str, size: int) -> list[str]:
    """Those of which an error is known; segments are of one size, as predictions take short ones.

    Their search takes most of the time, too.
    """
    segments = "_64k" if size >= LONG_SEGMENTS_BYTES else "_8k"
    varied = set(VARIANTS.values())
    return [
        name
        for name in methods_for(operation)
        if name not in varied
        and shown_error(operation, name) < math.inf
        and (name not in VARIANTS or name.endswith(segments))
    ]
