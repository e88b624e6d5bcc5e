# SPDX-License-Identifier: Apache-2.0
"""`fairlead tune --export`: choose among the MPI's own algorithms and orders of hosts by measuring.

What is found goes into the MPI's own tuning file and a file of hosts, for users who want no
preload library.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, detect
from fairlead.act.launch.formats import write_placement
from fairlead.act.tuning_files import NativeRule, TuningFile
from fairlead.decide.collectives.choosing import Choice, choose, size_ranges
from fairlead.decide.collectives.planning import plan
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.flows.tune import TuneRequest, found_hosts, within_budget
from fairlead.measure.collective_times import CollectiveTimes, NativeWay, TimedCall, TuningProgram
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator

__all__ = ["NativeTuning", "export"]

PILOT_ROUNDS = 3
"""Rounds with all algorithms; the best of each order are measured again, so that the luck of the
first rounds does not count."""

LEAST_ORDER_RATIO = 0.02
"""Least mean saving for which the hosts get another order."""

OWN = "own choice"


@dataclasses.dataclass(frozen=True)
class NativeTuning:
    """What was measured and decided.

    Attributes:
        launcher: Its MPI was measured.
        cluster: The hosts.
        placement: Where the ranks are to be.
        is_reordered: Whether that is another order than the launcher's.
        choices: For each call what was found; the name is that of an algorithm.
        rules: Which algorithm is taken for which calls.
        tuning_file: The MPI's form of it.
        num_left_out: Calls for which the budget was too short.
        seconds: Time of the measuring.
    """

    launcher: Launcher
    cluster: Cluster
    placement: Placement
    is_reordered: bool
    choices: Sequence[Choice]
    rules: Sequence[NativeRule]
    tuning_file: TuningFile
    num_left_out: int
    seconds: float

    def write(self, folder: Path) -> str:
        """Write both files into the folder.

        Returns:
            How to start a program with them.

        Raises:
            Error: The folder cannot be written, or the MPI's own decisions are not found.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
        library = mpi_builds.find(self.launcher).tune
        file, hosts = folder / self.tuning_file.file_name, folder / "hosts"
        num_ranks = self.placement.num_ranks
        write_text(file, self.tuning_file.render(self.rules, num_ranks, library))
        write_placement(self.placement, self.cluster, self.tuning_file.hosts_format, hosts)
        return self.tuning_file.usage(str(file.absolute()), str(hosts.absolute()), num_ranks)


@dataclasses.dataclass(frozen=True)
class _Found:
    """Times of one call: the MPI's own choice and the best algorithm, in both orders.

    Attributes:
        call: The call.
        names: The best algorithm in the given order, and in the other; None where there is none.
        times_s: Shape (rounds, 4): own choice and best algorithm in the given order, then in the
            other; `nan` where something was not timed.
    """

    call: TimedCall
    names: tuple[str | None, str | None]
    times_s: npt.NDArray[np.float64]

    def best_log_ratio(self, is_reordered: bool) -> float:
        """Logarithm of the best median time in an order over that of the MPI as it is."""
        columns = self.times_s[:, 2:] if is_reordered else self.times_s[:, :2]
        medians = [np.median(one) for one in columns.T if not np.isnan(one).any()]
        return math.log(min(medians) / np.median(self.times_s[:, 0])) if medians else 0.0


def export(request: TuneRequest, tuning_file: TuningFile, narrator: Narrator) -> NativeTuning:
    """Measure the network, then every operation and size by the MPI's own algorithms.

    Args:
        request: What the user asked for.
        tuning_file: Of which MPI.
        narrator: Tells the user of each step that takes time.

    Raises:
        InputError: The launcher is of another MPI.
        Error: The hosts, the network or the program could not be had.
    """
    launcher = detect(request.mpirun)
    if launcher.family != tuning_file.family:
        raise InputError(f"--export {tuning_file.name}: {launcher.path} is of {launcher.name}")
    cluster, network, placement = found_hosts(request, launcher, narrator)
    order = ring_order(network, placement)
    ranks = tuple(range(placement.num_ranks))
    calls = [
        TimedCall(operation, size, ranks)
        for size, operation in itertools.product(sorted(request.sizes), request.operations)
        if tuning_file.algorithms(operation, placement.num_ranks, size)
    ]
    env = tuning_file.measuring_env
    began_s = time.monotonic()
    with TuningProgram(launcher, cluster, placement, request.launcher_args, env) as program:
        found = within_budget(
            calls,
            lambda call, time_s: measured(call, program, tuning_file, order, time_s),
            request.budget_s,
            narrator,
        )
    seconds = time.monotonic() - began_s
    is_reordered = other_order_is_better(found)
    choices = [chosen(one, placement, is_reordered) for one in found]
    host_of_rank = placement.host_of_rank[list(order)] if is_reordered else placement.host_of_rank
    final = Placement(placement.hosts, host_of_rank, placement.method)
    rules = rules_of_sizes(choices)
    left_out = len(calls) - len(found)
    return NativeTuning(
        *(launcher, cluster, final, is_reordered, choices, rules, tuning_file, left_out, seconds)
    )


def ring_order(network: Network, placement: Placement) -> tuple[int, ...]:
    """Ranks host after host, in the order of a ring that crosses slow links as rarely as possible.

    Rank 0 stays the first.
    """
    used = sorted(set(placement.host_of_rank.tolist()))
    hosts = [placement.hosts[host] for host in used]
    ring = plan("allgather", network.select(hosts), 1 << 20, method="ring").order
    start = ring.index(used.index(int(placement.host_of_rank[0])))
    turned = [*ring[start:], *ring[:start]]
    return tuple(rank for place in turned for rank in placement.ranks_on(hosts[place]))


def measured(
    call: TimedCall,
    program: TuningProgram,
    tuning_file: TuningFile,
    order: tuple[int, ...],
    time_s: float,
) -> _Found:
    """All algorithms in both orders for a few rounds, then the best of them again."""
    names = tuning_file.algorithms(call.operation, len(call.ranks), call.message_bytes)
    settings = [tuning_file.settings(call.operation, name) for name in names]
    ways = [NativeWay(one, used) for used in ((), order) for one in settings]
    pilot = program.time(
        *(call, [], ways),
        time_s=0.0,
        min_rounds=PILOT_ROUNDS,
        max_rounds=PILOT_ROUNDS,
        drops_slower=False,
    )
    best = [best_of(pilot, range(1 + start, 1 + start + len(names))) for start in (0, len(names))]
    again = [NativeWay(order=order)] + [ways[column - 1] for column in best if column is not None]
    times = program.time(call, [], again, time_s=time_s, drops_slower=False)
    rounds = len(times.rounds_s)
    columns = [times.rounds_s[:, 0], times.rounds_s[:, 1]]
    timed = iter(times.rounds_s.T[2:])
    algorithms = [np.full(rounds, np.nan) if one is None else next(timed) for one in best]
    named = [None if one is None else names[(one - 1) % len(names)] for one in best]
    return _Found(
        call,
        (named[0], named[1]),
        np.column_stack([columns[0], algorithms[0], columns[1], algorithms[1]]),
    )


def best_of(times: CollectiveTimes, columns: range) -> int | None:
    """The way of these with the least median time; None where none was right."""
    right = [column for column in columns if times.is_right[column]]
    return min(right, key=lambda column: float(np.median(times.rounds_s[:, column])), default=None)


def other_order_is_better(found: Sequence[_Found]) -> bool:
    """Whether the other order saves more on average over all calls, and enough."""
    ratios = [
        np.mean([one.best_log_ratio(is_reordered) for one in found])
        for is_reordered in (False, True)
    ]
    return bool(ratios[1] < ratios[0] + math.log1p(-LEAST_ORDER_RATIO))


def chosen(found: _Found, placement: Placement, is_reordered: bool) -> Choice:
    """The algorithm in the order that is used, if it is faster there beyond doubt; else the MPI's.

    The saving is against the MPI as it is, in the given order.
    """
    own, best = (2, 3) if is_reordered else (0, 1)
    name = found.names[1 if is_reordered else 0]
    call = found.call
    hosts = {placement.hosts[host] for host in placement.host_of_rank}
    is_better = (
        name is not None
        and choose(
            *(call.operation, call.message_bytes, hosts, [name]),
            CollectiveTimes([True, True], found.times_s[:, [own, best]]),
        ).is_taken
    )
    column = best if is_better else own
    if column == 0:
        kept = choose(
            *(call.operation, call.message_bytes, hosts, [name or OWN]),
            CollectiveTimes([True, name is not None], found.times_s[:, [0, 1]]),
        )
        return dataclasses.replace(kept, is_taken=False)
    against = choose(
        *(call.operation, call.message_bytes, hosts, [name if is_better and name else OWN]),
        CollectiveTimes([True, True], found.times_s[:, [0, column]]),
    )
    return dataclasses.replace(against, is_taken=True)


def rules_of_sizes(choices: Sequence[Choice]) -> list[NativeRule]:
    """Rules for the algorithms that are taken; ranges of sizes as in a plan."""
    rules = []
    for operation in dict.fromkeys(choice.operation for choice in choices):
        of_operation = sorted(
            (one for one in choices if one.operation == operation),
            key=lambda one: one.message_bytes,
        )
        ranges = size_ranges([one.message_bytes for one in of_operation])
        rules += [
            NativeRule(operation, str(one.name), low, high)
            for one, (low, high) in zip(of_operation, ranges, strict=True)
            if one.is_taken and one.name not in (None, OWN)
        ]
    return rules
