# SPDX-License-Identifier: Apache-2.0
"""The steps before a decision: find launcher and hosts, trace the program, measure the network."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from fairlead.act import mpi_builds
from fairlead.act.launch import Launcher, LaunchSpec, SharedInput, detect, unreachable_hosts
from fairlead.act.mpi_builds import MpiBuild
from fairlead.errors import InputError, NoTraceError, TopologyError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.early_network import measure_early
from fairlead.flows.inputs.first_run import FirstRun
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.flows.inputs.interruption import keep_result, report_interruption
from fairlead.flows.inputs.launcher_placement import Observe, observe, observe_launcher
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.session import EarlyLook, PlanFirst, Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.inputs.tracing import TRACE_NOW, find_traffic, given_traffic, record_traffic
from fairlead.flows.inputs.unmeasured import raise_unmeasured
from fairlead.flows.request import Request
from fairlead.measure.network_sources import Measuring, network_source
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
    """Find, trace and measure; every step is recorded in the run folder.

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
    _check(request, probe_program.launcher, request.cluster, steps.find)
    directory = RunDirectory.new(request.directory, request.name, narrator.report_loss)
    directory.record("request", dataclasses.asdict(request))
    with report_interruption(directory, narrator), directory.record_failure():
        preparation = _Preparation(
            request, probe_program, directory, steps=steps, alongside=alongside, narrator=narrator
        )
        preparation.find_hosts()
        # The program first: the measuring processes then stay for the decision, and never run at
        # the same time as the program.
        probe_program.close()
        program, first_run = preparation.trace(plan_first)
        # The user's run has ended well then, whatever is measured for the next one.
        with result_kept(program, directory, narrator):
            preparation.record_run(program, first_run)
            network = preparation.measure(program)
            return preparation.make_session(network, program, first_run)


class _Preparation:
    """What is known of one request, step by step; the hosts change when one does not answer.

    Attributes:
        cluster: Hosts that take part.
        launchers: Where the launcher's own start has each rank, and on which CPUs.
        log: History of the runs like this one on these hosts.
    """

    cluster: Cluster
    launchers: Placement
    cpus: tuple[str, ...]
    log: RunLog

    def __init__(
        self,
        request: Request,
        probe_program: ProbeProgram,
        directory: RunDirectory,
        *,
        steps: Steps,
        alongside: ConcurrentRuns | None,
        narrator: Narrator,
    ) -> None:
        self._request, self._probe_program, self._directory = request, probe_program, directory
        self._steps, self._narrator = steps, narrator
        self._alongside = alongside or ConcurrentRuns()
        self._launcher = probe_program.launcher
        self._stdin = SharedInput()
        self._source = network_source(request.network.source, self._describe_measuring())
        self._has_budget = request.network.budget_s is not None
        self._found = FoundNetwork(
            self._source, request.cluster, request.network.skip_unreachable, narrator,
            has_budget=self._has_budget,
        )  # fmt: skip

    def find_hosts(self) -> None:
        """Find the hosts that answer, and where the launcher's own start has the ranks."""
        launcher, whole = self._launcher, self._request.cluster
        arguments = self._request.launcher.arguments
        with raise_unmeasured(launcher, self._directory, self._stdin):
            self._found.look(
                lambda: self._steps.unreachable_hosts(launcher, whole, launcher_args=arguments)
            )
        self._observe(self._found.cluster)
        self._found.give_slots(self.cluster)
        placed = {"host_of_rank": self.launchers.host_names(), **self.launchers.origin}
        self._directory.record("launcher", placed)

    def trace(self, plan_first: PlanFirst) -> tuple[TracedProgram, FirstRun]:
        """Find the program's traffic, by a run of it where it is not known."""
        first_run = FirstRun(lambda: plan_first(self._look_early))
        program = find_traffic(
            *(self._request, self._launcher, self.cluster, self._directory, self._narrator),
            stdin=self._stdin,
            trace=self._steps.trace,
            first_run=first_run,
        )
        if program.seconds is not None and program.seconds > self._request.network.max_age_s:
            self._found.forget()
        return program, first_run

    def record_run(self, program: TracedProgram, first_run: FirstRun) -> None:
        """Record the traffic, and the run by which it was found.

        Raises:
            NoTraceError: The user's own run left no trace.
            InputError: Its traffic cannot be kept for the next run.
        """
        record_traffic(program, self._directory)
        self._open_log()
        # The time of one that was ended before says nothing about the program's.
        traced_s = None if program.is_stopped else program.seconds
        self.log.add_traced_run(
            traced_s,
            is_shared=self._alongside.has_met(),
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

    def measure(self, program: TracedProgram) -> Network:
        """Measure the network, where it is not known, and record it."""
        with raise_unmeasured(self._launcher, self._directory, self._stdin, program):
            cluster, network = self._found.settle(
                program.traffic,
                self.launchers,
                measures_again=self._request.network.source is None,
            )
        if cluster.hosts == self.cluster.hosts:
            self.cluster = cluster
        else:  # The probe has left out another host.
            self._observe(cluster)
            self._open_log()
        with self._directory.tolerate_failures():
            network.save(self._directory.file(run_directory.NETWORK))
        recorded = {
            "hosts": self.cluster.hosts,
            "slots": self.cluster.slots,
            "probe_s": self._found.seconds,
            "is_given": self._source.is_given,
            "profile": self._profile_path(),
        }
        self._directory.record("network", recorded)
        return network

    def make_session(
        self, network: Network, program: TracedProgram, first_run: FirstRun
    ) -> Session:
        """All that is known now."""
        return Session(
            request=self._request,
            narrator=self._narrator,
            probe_program=self._probe_program,
            cluster=self.cluster,
            network=network,
            program=program,
            launchers=self.launchers,
            directory=self._directory,
            log=self.log,
            probe_s=self._found.seconds,
            has_probed=self._found.has_probed,
            stdin=self._stdin,
            is_network_given=self._source.is_given,
            basis=self._source.basis,
            profile_path=self._profile_path(),
            launchers_cpus=self.cpus,
            alongside=self._alongside,
            first_run=first_run,
        )

    def _observe(self, cluster: Cluster) -> None:
        """Where the launcher's own start on these hosts has each rank."""
        self.cluster, self.launchers, self.cpus = observe_launcher(
            self._launcher,
            cluster,
            self._request.num_ranks,
            self._request.launcher.arguments,
            self._narrator,
            max_age_s=self._request.network.max_age_s,
            observe=self._steps.observe,
        )

    def _describe_measuring(self) -> Measuring:
        """How the network is measured, where it has to be."""
        asked = self._request.network
        return Measuring(
            program=lambda: self._probe_program,
            narrator=self._narrator,
            mode=asked.mode,
            budget_s=asked.budget_s,
            contention=asked.contention,
            skip_unreachable=asked.skip_unreachable,
            max_age_s=asked.max_age_s,
            is_alone=lambda: not self._alongside.others(),
            check=self._steps.check,
            probe=self._steps.probe,
        )

    def _open_log(self) -> None:
        """The history as it is now; which one it is depends on what is known of the traffic."""
        self.log = RunLog(
            *(self._request, self._launcher, self.launchers, self.cluster),
            directory=self._directory,
            narrator=self._narrator,
        )

    def _look_early(self) -> EarlyLook:
        """What is known before a run of a program that was never traced.

        Raises:
            Error: The network cannot be measured, or only without some of the hosts.
        """
        is_sure = np.ones((self.cluster.num_hosts,) * 2, dtype=bool)
        if not self._source.is_given:
            is_sure = measure_early(
                self._found, self._probe_program, self._narrator, has_budget=self._has_budget
            )
            # It never runs at the same time as the program.
            self._probe_program.close()
        network = self._found.measure()
        if self._found.cluster.hosts != self.cluster.hosts:
            raise TopologyError("a host does not answer any more")
        self._open_log()
        nothing = sp.csr_array((self._request.num_ranks,) * 2)
        program = TracedProgram(Traffic(nothing, nothing))
        return EarlyLook(self.make_session(network, program, FirstRun()), is_sure)

    def _profile_path(self) -> Path | None:
        """Where the network is kept; one of some of the hosts is not kept as that of all."""
        whole = self._request.cluster
        return self._source.profile_path(whole) if self.cluster.hosts == whole.hosts else None


def result_kept(
    program: TracedProgram, directory: RunDirectory, narrator: Narrator
) -> AbstractContextManager[None]:
    """As `keep_result` where the traced run was the run that the user asked for."""
    if not program.is_users_run:
        return contextlib.nullcontext()
    assert program.seconds is not None
    return keep_result(directory, narrator, program.seconds)


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
