# SPDX-License-Identifier: Apache-2.0
"""The steps before a decision: find launcher and hosts, trace the program, measure the network."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, LaunchSpec, SharedInput, detect, unreachable_hosts
from fairlead.act.mpi_builds import MpiBuild
from fairlead.decide.placement import choose_objective, place
from fairlead.errors import InputError, NoTraceError, TopologyError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.early_network import measure_early
from fairlead.flows.inputs.first_run import FirstRun, Lever
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.flows.inputs.interruption import keep_result, report_interruption
from fairlead.flows.inputs.launcher_placement import (
    Observe,
    ObservedLauncher,
    observe,
    observe_launcher,
)
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.inputs.tracing import TRACE_NOW, find_traffic, given_traffic, record_traffic
from fairlead.flows.inputs.unmeasured import raise_unmeasured
from fairlead.flows.request import Request
from fairlead.measure.network_sources import Measuring, NetworkSource, network_source
from fairlead.measure.probe import probe
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.profile_cache import Profile
from fairlead.measure.trace import TracedRun, require_program, trace
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.watch.concurrent_runs import ConcurrentRuns
from fairlead.watch.kept_network import refresh


@dataclasses.dataclass(frozen=True)
class Steps:
    """The functions that `prepare` uses; tests replace them.

    Attributes:
        unreachable_hosts: As `fairlead.act.launch.unreachable_hosts`.
        probe: As `fairlead.measure.probe.probe`.
        trace: As `fairlead.measure.trace.trace`.
        observe: As `fairlead.flows.inputs.launcher_placement.observe`.
        check: The current state of a kept network; as `fairlead.watch.kept_network.refresh`.
        find: As `fairlead.act.mpi_builds.find`.
    """

    unreachable_hosts: Callable[..., Mapping[str, str]] = unreachable_hosts
    probe: Callable[..., Network] = probe
    trace: Callable[..., TracedRun] = trace
    observe: Observe = observe
    check: Callable[[Profile, Cluster, Narrator, ProbeProgram], Network | None] = refresh
    find: Callable[[Launcher], MpiBuild] = mpi_builds.find


STEPS = Steps()

EVERY_RANK = "FAIRLEAD_EVERY_RANK"
"""The user's word that all ranks load the library (mpi/intercept/session/features.hpp)."""


@dataclasses.dataclass(frozen=True)
class Session:
    """One request with all that a decision needs.

    Attributes:
        request: What the user asked for.
        narrator: Prints for the user.
        probe_program: The measuring program, with its launcher.
        cluster: Hosts that take part, each measured.
        network: The network between them, in their order.
        program: Its traffic, and the traced run, if there was one now.
        launchers: The placement by the launcher's own start, as it was observed.
        launchers_cpus: CPUs of each rank in that start; empty where they are not known.
        alongside: Other runs on the same hosts at the same time.
        first_run: What the traced run had, where it was the one that was asked for.
        directory: Folder of this run; network and traffic are saved there.
        log: Its history.
        probe_s: Time for measuring now; 0 if a kept profile was used.
        stdin: Standard input of the program, in the traced run and in each later one.
        is_network_given: Whether the user gave the network, and nothing is to be measured.
        basis: What the network rests on, as it is printed with the decision.
        profile_path: Where the network is kept for later runs; None where it is given.
    """

    request: Request
    narrator: Narrator
    probe_program: ProbeProgram
    cluster: Cluster
    network: Network
    program: TracedProgram
    launchers: Placement
    directory: RunDirectory
    log: RunLog
    probe_s: float
    stdin: SharedInput = dataclasses.field(default_factory=SharedInput)
    is_network_given: bool = True
    basis: str = "the measured rates"
    profile_path: Path | None = None
    launchers_cpus: tuple[str, ...] = ()
    alongside: ConcurrentRuns = dataclasses.field(default_factory=ConcurrentRuns)
    first_run: FirstRun = dataclasses.field(default_factory=FirstRun)

    @property
    def launcher(self) -> Launcher:
        """The launcher of the program."""
        return self.probe_program.launcher

    @property
    def traffic(self) -> Traffic:
        """The traffic of the program."""
        return self.program.traffic

    @property
    def objective(self) -> str:
        """The objective that was asked for, or the one that weighs hosts in place of it."""
        return choose_objective(self.request.placing.objective, self.traffic, self.network)

    @property
    def library_lack(self) -> str:
        """As `library_lack`."""
        return library_lack(self.launcher)

    def place(
        self, method: str, network: Network | None = None, time_limit_s: float | None = None
    ) -> Placement:
        """The placement that a method finds.

        Args:
            method: Name of the method.
            network: A network to use instead of the session's.
            time_limit_s: For `optimize`, where the user has given none.

        Raises:
            InputError: The method is unknown.
        """
        if method == "launcher":
            return self.launchers
        asked = self.request.placing
        limit_s = time_limit_s if asked.time_limit_s is None else asked.time_limit_s
        return place(
            self.traffic,
            self.network if network is None else network,
            self.cluster,
            method=method,
            metric=asked.metric,
            objective=asked.objective,
            seed=asked.seed,
            time_limit_s=limit_s if method == "optimize" else None,
            uneven=asked.uneven,
        )


class EarlyLook(NamedTuple):
    """What is known before a first run.

    Attributes:
        session: With the network, and without traffic.
        is_sure: Pairs of hosts whose rates are more than those of a quick probe, shape (H, H).
    """

    session: Session
    is_sure: npt.NDArray[np.bool_]


PlanFirst = Callable[[Callable[[], EarlyLook]], Sequence[Lever]]
"""Plans a first run; it calls the function for what is known, if it needs that."""


def library_lack(launcher: Launcher) -> str:
    """Why the library would leave its plan unused in a program; empty where it follows it."""
    if launcher.has_name_service or EVERY_RANK in os.environ:
        return ""
    return (
        f"ranks started by {launcher.name} have no name service by which they agree on a plan "
        f"({EVERY_RANK}=1 confirms that all of them load the library)"
    )


def probe_program_for(request: Request) -> ProbeProgram:
    """The measuring program by the launcher that the user has.

    Raises:
        LaunchError: There is no launcher, or not the requested one.
    """
    return ProbeProgram(
        detect(request.launcher.mpirun, request.program), request.launcher.arguments
    )


def prepare(
    request: Request,
    narrator: Narrator,
    probe_program: ProbeProgram,
    steps: Steps = STEPS,
    alongside: ConcurrentRuns | None = None,
    *,
    plan_first: PlanFirst = lambda _look: (),
) -> Session:
    """Find, trace and measure; every step is recorded in the run directory.

    Args:
        request: What the user asked for.
        narrator: Reports each step that takes time.
        probe_program: Measures; its launcher starts the user's program too. Where the network was
            measured now it still runs afterwards.
        steps: By what it is done.
        alongside: Other runs on the same hosts at the same time; None: there are none.
        plan_first: What a first run has, of whose program nothing is known.

    Raises:
        Error: A step failed; the message says which host, file or program, and what to do.
        NextRunUndecided: The traced run was the user's, and a step after it failed, or its traffic
            cannot be kept.
        UnmeasuredError: The hosts of a scheduler's allocation could not be measured.
    """
    launcher = probe_program.launcher
    alongside = alongside or ConcurrentRuns()
    whole = request.cluster
    _check(request, launcher, whole, steps.find)
    name = Path(request.program[0]).name
    directory = RunDirectory.new(request.directory, name, narrator.report_loss)
    directory.record("request", dataclasses.asdict(request))
    log_of = partial(RunLog, request, launcher, directory=directory, narrator=narrator)
    with report_interruption(directory, narrator), directory.record_failure():
        source = network_source(
            request.network.source,
            _describe_measuring(request, narrator, probe_program, steps, alongside),
        )
        found = FoundNetwork(
            source, whole, request.network.skip_unreachable, narrator,
            has_budget=request.network.budget_s is not None,
        )  # fmt: skip
        arguments, stdin = request.launcher.arguments, SharedInput()
        with raise_unmeasured(launcher, directory, stdin):
            found.look(lambda: steps.unreachable_hosts(launcher, whole, launcher_args=arguments))
        reachable, launchers, cpus = _observe(request, launcher, found.cluster, narrator, steps)
        found.give_slots(reachable)
        directory.record("launcher", {"host_of_rank": launchers.host_names(), **launchers.origin})
        # The program first: the measuring processes then stay for the decision, and never run at
        # the same time as the program.
        probe_program.close()

        session_of = partial(
            Session, request, narrator, probe_program,
            directory=directory, stdin=stdin, alongside=alongside,
            is_network_given=source.is_given, basis=source.basis,
        )  # fmt: skip

        def look_early() -> EarlyLook:
            network, is_sure = _measure_before_run(
                *(found, reachable, source, probe_program, narrator),
                has_budget=request.network.budget_s is not None,
            )
            session = session_of(
                *(reachable, network, _nothing_seen(request.num_ranks), launchers),
                log=log_of(launchers, reachable),
                probe_s=found.seconds,
                launchers_cpus=cpus,
            )
            return EarlyLook(session, is_sure)

        first_run = FirstRun(lambda: plan_first(look_early))
        program = find_traffic(
            *(request, launcher, reachable, directory, narrator),
            stdin=stdin,
            trace=steps.trace,
            first_run=first_run,
        )
        if program.seconds is not None and program.seconds > request.network.max_age_s:
            found.forget()
        # The user's run has ended well then, whatever is measured for the next one.
        with result_kept(program, directory, narrator):
            record_traffic(program, directory)
            log = log_of(launchers, reachable)
            # The time of one that was ended before says nothing about the program's.
            traced_s = None if program.is_stopped else program.seconds
            log.add_traced_run(
                traced_s,
                is_shared=alongside.has_met(),
                is_relayed=first_run.is_relayed,
                is_tuned=first_run.is_tuned,
            )
            if program.is_users_run and program.lack:
                raise NoTraceError(program.lack)
            if program.is_users_run and not program.is_known:
                raise InputError(
                    "its traffic cannot be kept, and each run is traced anew; --first twice traces "
                    "and places in one call"
                )
            measures_again = request.network.source is None
            with raise_unmeasured(launcher, directory, stdin, program):
                cluster, network = found.settle(
                    program.traffic, launchers, measures_again=measures_again
                )
            if cluster.hosts != reachable.hosts:  # The probe has left out another host.
                cluster, launchers, cpus = _observe(request, launcher, cluster, narrator, steps)
                log = log_of(launchers, cluster)
            with directory.tolerate_failures():
                network.save(directory.file(run_directory.NETWORK))
            # A network of some of the hosts is not kept as a profile of all.
            profile_path = source.profile_path(whole) if cluster.hosts == whole.hosts else None
            recorded = {
                "hosts": cluster.hosts,
                "slots": cluster.slots,
                "probe_s": found.seconds,
                "is_given": source.is_given,
                "profile": profile_path,
            }
            directory.record("network", recorded)
            return session_of(
                *(cluster, network, program, launchers),
                log=log,
                probe_s=found.seconds,
                profile_path=profile_path,
                launchers_cpus=cpus,
                first_run=first_run,
            )


def _measure_before_run(
    found: FoundNetwork,
    cluster: Cluster,
    source: NetworkSource,
    probe_program: ProbeProgram,
    narrator: Narrator,
    *,
    has_budget: bool,
) -> tuple[Network, npt.NDArray[np.bool_]]:
    """The network of these hosts before an unknown program, and which of its pairs are sure.

    Raises:
        Error: It cannot be measured, or only without some of the hosts.
    """
    is_sure = np.ones((cluster.num_hosts,) * 2, dtype=bool)
    if not source.is_given:
        is_sure = measure_early(found, probe_program, narrator, has_budget=has_budget)
        # It never runs at the same time as the program.
        probe_program.close()
    network = found.measure()
    if found.cluster.hosts != cluster.hosts:
        raise TopologyError("a host does not answer any more")
    return network, is_sure


def _nothing_seen(num_ranks: int) -> TracedProgram:
    """A program that was not traced yet."""
    nothing = sp.csr_array((num_ranks, num_ranks))
    return TracedProgram(Traffic(nothing, nothing))


def result_kept(
    program: TracedProgram, directory: RunDirectory, narrator: Narrator
) -> AbstractContextManager[None]:
    """As `keep_result` where the traced run was the run that the user asked for."""
    if not program.is_users_run:
        return contextlib.nullcontext()
    assert program.seconds is not None
    return keep_result(directory, narrator, program.seconds)


def _describe_measuring(
    request: Request,
    narrator: Narrator,
    probe_program: ProbeProgram,
    steps: Steps,
    alongside: ConcurrentRuns,
) -> Measuring:
    return Measuring(
        program=lambda: probe_program,
        narrator=narrator,
        mode=request.network.mode,
        budget_s=request.network.budget_s,
        contention=request.network.contention,
        skip_unreachable=request.network.skip_unreachable,
        max_age_s=request.network.max_age_s,
        is_alone=lambda: not alongside.others(),
        check=steps.check,
        probe=steps.probe,
    )


def _observe(
    request: Request, launcher: Launcher, cluster: Cluster, narrator: Narrator, steps: Steps
) -> ObservedLauncher:
    return observe_launcher(
        launcher,
        cluster,
        request.num_ranks,
        request.launcher.arguments,
        narrator,
        max_age_s=request.network.max_age_s,
        observe=steps.observe,
    )


def _check(
    request: Request, launcher: Launcher, cluster: Cluster, find: Callable[[Launcher], MpiBuild]
) -> None:
    """Check before anything starts what tracing, measuring or the launcher would refuse later."""
    if request.traffic in (None, TRACE_NOW):
        require_program(request.program)
    else:
        given_traffic(request)
    if request.num_ranks < 1:
        cluster.require_room_for(request.num_ranks)
    # Whether there is room is the launcher's to say; here its arguments are checked.
    roomy = dataclasses.replace(cluster, slots=(request.num_ranks,) * cluster.num_hosts)
    some = Placement(cluster.hosts, np.zeros(request.num_ranks, np.int64), method="blocked")
    arguments = request.launcher.arguments
    launcher.check(
        LaunchSpec(request.program, request.num_ranks, roomy, some, launcher_args=arguments)
    )
    # Traffic that is known, and a network that is given, need no program of ours.
    if request.traffic in (None, TRACE_NOW) or request.network.source in (None, "probe:"):
        find(launcher)
