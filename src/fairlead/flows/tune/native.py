# SPDX-License-Identifier: Apache-2.0
"""`fairlead tune --export`: choose among the MPI's own algorithms and orders of hosts by measuring.

What is found goes into the MPI's own tuning file and a file of hosts, for users who want no
preload library.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, detect
from fairlead.act.launch.formats import write_placement
from fairlead.act.tuning_files import NativeRule, TuningFile
from fairlead.decide.collectives.choosing import Choice
from fairlead.decide.collectives.native_choice import (
    NativeTimes,
    choose_native,
    native_rules,
    other_order_is_better,
)
from fairlead.decide.collectives.planning import plan
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.flows.inputs.alongside import EFFECT_ON_RESULT, announce_to_others
from fairlead.flows.tune.flow import TuneRequest, find_hosts, within_budget
from fairlead.measure.collective_times import (
    CollectiveTimes,
    NativeAlgorithm,
    TimedCall,
    TuningProgram,
)
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator

__all__ = ["NativeTuning", "tune_native"]

PILOT_ROUNDS = 3
"""Rounds with all algorithms; the best of each order are measured again, so that chance in the
first rounds does not count."""


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
        num_left_out: Calls that were not measured: the budget was too short, or they failed.
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


def tune_native(request: TuneRequest, tuning_file: TuningFile, narrator: Narrator) -> NativeTuning:
    """Measure the network, then every operation and size by the MPI's own algorithms.

    Args:
        request: What the user asked for.
        tuning_file: Form of the file, by MPI.
        narrator: Reports each step that takes time.

    Raises:
        InputError: The launcher is of another MPI, or has no choice for any of the operations.
        Error: The hosts, the network or the program could not be had.
    """
    calls = native_calls(request, tuning_file)
    launcher = detect(request.launcher.mpirun)
    if launcher.family != tuning_file.family:
        raise InputError(f"--export {tuning_file.name}: {launcher.path} is of {launcher.name}")
    arguments, env = request.launcher.arguments, tuning_file.measuring_env
    with announce_to_others(request.cluster.hosts, "tune", narrator, EFFECT_ON_RESULT) as alongside:
        cluster, network, placement = find_hosts(request, launcher, narrator, alongside)
        order = ring_order(network, placement)
        began_s = time.monotonic()
        with TuningProgram(launcher, cluster, placement, arguments, env) as program:
            found = within_budget(
                calls,
                lambda call, time_s: time_native(call, program, tuning_file, order, time_s),
                request.budget_s,
                narrator,
            )
        seconds = time.monotonic() - began_s
    if not any(name for one in found for name in one.names):
        narrator.report(
            f"collectives: {launcher.name} cannot switch its algorithms while a program runs; only "
            "the order of the hosts was measured"
        )
    is_reordered = other_order_is_better(found)
    choices = [choose_native(one, placement, is_reordered) for one in found]
    host_of_rank = placement.host_of_rank[list(order)] if is_reordered else placement.host_of_rank
    final = Placement(placement.hosts, host_of_rank, placement.method)
    rules = native_rules(choices)
    left_out = len(calls) - len(found)
    return NativeTuning(
        *(launcher, cluster, final, is_reordered, choices, rules, tuning_file, left_out, seconds)
    )


def native_calls(request: TuneRequest, tuning_file: TuningFile) -> list[TimedCall]:
    """The calls for which the MPI has several algorithms, the smallest first.

    Raises:
        InputError: There is none.
    """
    ranks = tuple(range(request.num_ranks))
    calls = [
        TimedCall(operation, size, ranks)
        for size, operation in itertools.product(sorted(request.sizes), request.operations)
        if tuning_file.algorithms(operation, request.num_ranks, size)
    ]
    if not calls:
        names = ", ".join(request.operations)
        raise InputError(f"--export {tuning_file.name}: there are no algorithms to choose: {names}")
    return calls


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


def time_native(
    call: TimedCall,
    program: TuningProgram,
    tuning_file: TuningFile,
    order: tuple[int, ...],
    time_s: float,
) -> NativeTimes:
    """All algorithms in both orders for a few rounds, then the best of them again."""
    names = tuning_file.algorithms(call.operation, len(call.ranks), call.message_bytes)
    settings = [tuning_file.settings(call.operation, name) for name in names]
    algorithms = [NativeAlgorithm(one, used) for used in ((), order) for one in settings]
    pilot = program.time(
        *(call, [], algorithms),
        time_s=0.0,
        min_rounds=PILOT_ROUNDS,
        max_rounds=PILOT_ROUNDS,
        drops_slower=False,
    )
    best = [best_of(pilot, range(1 + start, 1 + start + len(names))) for start in (0, len(names))]
    again = [NativeAlgorithm(order=order)] + [
        algorithms[column - 1] for column in best if column is not None
    ]
    times = program.time(call, [], again, time_s=time_s, drops_slower=False)
    rounds = len(times.rounds_s)
    columns = [times.rounds_s[:, 0], times.rounds_s[:, 1]]
    timed = iter(times.rounds_s.T[2:])
    best_s = [np.full(rounds, np.nan) if one is None else next(timed) for one in best]
    named = [None if one is None else names[(one - 1) % len(names)] for one in best]
    return NativeTimes(
        call,
        (named[0], named[1]),
        np.column_stack([columns[0], best_s[0], columns[1], best_s[1]]),
    )


def best_of(times: CollectiveTimes, columns: range) -> int | None:
    """The algorithm of these with the least median time; None where none was right."""
    right = [column for column in columns if times.is_right[column]]
    return min(right, key=lambda column: float(np.median(times.rounds_s[:, column])), default=None)
