# SPDX-License-Identifier: Apache-2.0
"""`fairlead tune`: measure which algorithm of each collective is fastest for a placement."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from fairlead.act.launch import Launcher, detect, unreachable_hosts
from fairlead.act.plan.collectives import write_collectives_plan
from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.candidates import candidates
from fairlead.decide.collectives.catalogue import WITH_ROOT
from fairlead.decide.collectives.choosing import Choice, choose, rules_of
from fairlead.errors import InputError, ProbeError
from fairlead.flows.inputs.alongside import EFFECT_ON_RESULT, announce_to_others
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.flows.inputs.launcher_placement import observe_launcher
from fairlead.flows.request import LauncherRequest, NetworkRequest, require_ranks
from fairlead.measure.collective_times import TimedCall, TuningProgram
from fairlead.measure.network_sources import Measuring, network_source
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.cluster import Cluster
from fairlead.model.collective_rule import DEFAULT_DRIFT, DriftRule, TunedCollectives
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.schedule import Schedule
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.units import format_duration, format_size
from fairlead.watch.concurrent_runs import ConcurrentRuns

Measured = TypeVar("Measured")

__all__ = ["DEFAULT_BUDGET_S", "DEFAULT_OPERATIONS", "DEFAULT_SIZES", "TuneRequest", "Tuning"]

DEFAULT_OPERATIONS = ("bcast", "reduce", "allreduce", "allgather")
"""Those in which order and schedule save most; a linear scatter or gather is near its bound."""

DEFAULT_SIZES = tuple(4**exponent << 10 for exponent in range(1, 7))
"""4 KiB to 4 MiB: each stands for those from half to twice as large."""

DEFAULT_BUDGET_S = 60.0


@dataclasses.dataclass(frozen=True)
class TuneRequest:
    """What the user asked for.

    Attributes:
        num_ranks: Number of ranks.
        cluster: Hosts and slots.
        launcher: Whose MPI is measured.
        network: Where the network comes from; its budget and its contention are not used.
        placement: Host of each rank; None: as the launcher places them.
        operations: Which are measured.
        sizes: Sizes of the messages, in bytes.
        budget_s: No further call begins after this time.
        is_reproducible: The plan fixes the order of all that is combined, and is never made anew.
        drift: When a running program plans anew; None: never. A reproducible plan never does.
    """

    num_ranks: int
    cluster: Cluster
    launcher: LauncherRequest = dataclasses.field(default_factory=LauncherRequest)
    network: NetworkRequest = dataclasses.field(default_factory=NetworkRequest)
    placement: Path | None = None
    operations: tuple[str, ...] = DEFAULT_OPERATIONS
    sizes: tuple[int, ...] = DEFAULT_SIZES
    budget_s: float = DEFAULT_BUDGET_S
    is_reproducible: bool = False
    drift: DriftRule | None = DEFAULT_DRIFT


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What was measured and decided.

    Attributes:
        launcher: Its MPI was measured.
        network: Between the hosts.
        placement: Where the ranks were.
        choices: For each call what was found, in the order of measuring.
        num_left_out: Calls that were not measured: the budget was too short, or they failed.
        is_reproducible: As asked for.
        seconds: Time of the measuring.
        drift: As asked for.
    """

    launcher: Launcher
    network: Network
    placement: Placement
    choices: Sequence[Choice]
    num_left_out: int
    is_reproducible: bool
    seconds: float
    drift: DriftRule | None = None

    @property
    def collectives(self) -> TunedCollectives:
        """The rules that follow."""
        rules = tuple(rules_of(self.choices))
        drift = None if self.is_reproducible else self.drift
        return TunedCollectives(self.placement.num_ranks, rules, self.is_reproducible, drift)

    def write(self, folder: Path) -> None:
        """Write the plan (docs/reference/plan.md)."""
        write_collectives_plan(folder, self.network, self.collectives)


def tune(request: TuneRequest, narrator: Narrator) -> Tuning:
    """Measure the network, then every operation and size by the candidates and the MPI's own.

    Args:
        request: What the user asked for.
        narrator: Reports each step that takes time.

    Raises:
        Error: The hosts, the network or the program could not be had.
    """
    launcher = detect(request.launcher.mpirun)
    with announce_to_others(request.cluster.hosts, "tune", narrator, EFFECT_ON_RESULT) as alongside:
        cluster, network, placement = find_hosts(request, launcher, narrator, alongside)
        ranks = tuple(range(placement.num_ranks))
        calls = [
            TimedCall(operation, size, ranks)
            for size, operation in itertools.product(sorted(request.sizes), request.operations)
        ]
        with TuningProgram(launcher, cluster, placement, request.launcher.arguments) as program:
            return time_calls(calls, program, network, request, narrator)


def find_hosts(
    request: TuneRequest,
    launcher: Launcher,
    narrator: Narrator,
    alongside: ConcurrentRuns | None = None,
) -> tuple[Cluster, Network, Placement]:
    """The hosts, the network between them, and where the ranks are.

    Interfaces and shared bottlenecks are measured too: a probe of single pairs sees one group.

    Args:
        request: What the user asked for.
        launcher: The launcher.
        narrator: Reports each step that takes time.
        alongside: Other runs on the same hosts, whose load is not kept for later ones; None: there
            are none.

    Raises:
        InputError: All ranks are on one host, or the placement is of another number of ranks.
    """
    whole = request.cluster
    given = given_placement(request)
    others = alongside or ConcurrentRuns()
    with ProbeProgram(launcher, request.launcher.arguments) as probe_program:
        measuring = Measuring(
            program=lambda: probe_program,
            narrator=narrator,
            mode=request.network.mode,
            contention=True,
            max_age_s=request.network.max_age_s,
            is_alone=lambda: not others.others(),
        )
        source = network_source(request.network.source, measuring)
        found = FoundNetwork(source, whole, False, narrator)
        arguments = request.launcher.arguments
        found.look(lambda: unreachable_hosts(launcher, whole, launcher_args=arguments))
        reachable, launchers, _ = observe_launcher(
            launcher,
            found.cluster,
            request.num_ranks,
            request.launcher.arguments,
            narrator,
            max_age_s=request.network.max_age_s,
        )
        found.give_slots(reachable)
        nothing = _nothing(request.num_ranks)
        cluster, network = found.settle(nothing, launchers, measures_again=False)
    placement = given or launchers
    placement.require_fits(cluster)
    if len(set(placement.host_of_rank.tolist())) < 2:
        raise InputError(
            f"all {request.num_ranks} ranks are on one host: there is nothing to tune; give hosts "
            "with fewer slots, or more ranks"
        )
    return cluster, network, placement


def given_placement(request: TuneRequest) -> Placement | None:
    """The placement that the user named; None: as the launcher places the ranks.

    Raises:
        InputError: It cannot be read, or is of another number of ranks.
    """
    if request.placement is None:
        return None
    placement = Placement.load(request.placement)
    remedy = f"map them again, or tune with -n {placement.num_ranks}"
    require_ranks(request.placement, placement.num_ranks, request.num_ranks, remedy)
    return placement


def time_calls(
    calls: Sequence[TimedCall],
    program: TuningProgram,
    network: Network,
    request: TuneRequest,
    narrator: Narrator,
) -> Tuning:
    """Time each call by the candidates and the MPI's own, as long as the budget lasts.

    Args:
        calls: What is timed, in this order.
        program: Times it.
        network: Between the hosts of its placement.
        request: Budget, and whether the plan is reproducible.
        narrator: Reports what is left out.

    Raises:
        ProbeError: Not one call could be timed.
    """
    placement = program.placement

    def one(call: TimedCall, time_s: float) -> Choice:
        schedules = schedule_candidates(call, network, placement)
        times = program.time(call, schedules, time_s=time_s)
        names = [schedule.method for schedule in schedules]
        return choose(CallKind.of(call, placement), names, times)

    began_s = time.monotonic()
    choices = within_budget(calls, one, request.budget_s, narrator)
    seconds = time.monotonic() - began_s
    left_out = len(calls) - len(choices)
    return Tuning(
        *(program.launcher, network, placement, choices, left_out, request.is_reproducible),
        seconds,
        request.drift,
    )


def within_budget(
    calls: Sequence[TimedCall],
    measured: Callable[[TimedCall, float], Measured],
    budget_s: float,
    narrator: Narrator,
    clock: Callable[[], float] = time.monotonic,
) -> list[Measured]:
    """What was measured of the calls; each has an equal part of the time that is left.

    A call that has begun is measured to its end, which may be after the budget.

    Args:
        calls: What is measured, in this order.
        measured: Measures a call in about so many seconds.
        budget_s: No further call begins after this time.
        narrator: Reports what is left out.
        clock: Seconds that pass; as `time.monotonic`.

    Raises:
        ProbeError: Not one could be measured.
    """
    found: list[Measured] = []
    began_s = clock()
    problems: list[ProbeError] = []
    with narrator.progress(f"timing {len(calls)} collective calls") as on_progress:
        for index, call in enumerate(calls):
            left_s = budget_s - (clock() - began_s)
            if left_s <= 0 and (found or problems):
                break
            try:
                found.append(measured(call, max(0.0, left_s) / (len(calls) - index)))
            except ProbeError as error:
                problems.append(error)
                size = format_size(call.message_bytes)
                narrator.report(f"collectives: {call.operation} of {size}: {error}")
            on_progress(index + 1, len(calls))
    if problems and not found:
        raise problems[-1]
    if num_left := len(calls) - len(found) - len(problems):
        narrator.report(
            f"collectives: {num_left} of {len(calls)} calls were not measured "
            f"within {format_duration(budget_s)}, and stay the MPI's own"
        )
    return found


def schedule_candidates(call: TimedCall, network: Network, placement: Placement) -> list[Schedule]:
    """The candidates of a call."""
    host_of_rank = placement.host_of_rank[list(call.ranks)]
    used, ranks_of_host = np.unique(host_of_rank, return_counts=True)
    hosts = [placement.hosts[host] for host in used]
    root = int(np.searchsorted(used, host_of_rank[call.root]))
    return candidates(
        call.operation,
        network.select(hosts),
        call.message_bytes,
        ranks_of_host.tolist(),
        root if call.operation in WITH_ROOT else None,
    )


def _nothing(num_ranks: int) -> Traffic:
    silent = sp.csr_array((num_ranks, num_ranks))
    return Traffic(silent, silent)
