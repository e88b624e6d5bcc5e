# SPDX-License-Identifier: Apache-2.0
"""The steps before a decision: find launcher and hosts, trace the program, measure the network."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import scipy.sparse as sp

from fairlead.act.launch import (
    Launcher,
    LaunchSpec,
    SharedInput,
    cluster_from_slurm,
    detect,
    read_hostfile,
    unreachable_hosts,
)
from fairlead.decide.placement import DEFAULT_OBJECTIVE, place
from fairlead.decide.placement.filling import fill_by_slot
from fairlead.decide.rule import DEFAULT_RULE, Rule
from fairlead.errors import InputError, NoTraceError, TopologyError
from fairlead.files import run_directory
from fairlead.files.run_directory import RunDirectory
from fairlead.measure import profile_cache
from fairlead.measure.probe import probe, reachable_part
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.profile_cache import Profile
from fairlead.measure.trace import require_program, trace
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.units import format_duration
from fairlead.watch.kept_network import refreshed

PROBE_NOW = "probe:"
IMPLAUSIBLE_RATIO = 3.0
"""A network is not what the traced run met when its messages alone would have taken this many times
as long: the bottleneck's time is a lower bound where the rates are right."""
TRACE_NOW = Path("trace:")


@dataclasses.dataclass(frozen=True)
class Request:
    """What the user asked for.

    Attributes:
        program: Program and arguments.
        num_ranks: Number of ranks.
        hostfile: Hosts and slots, or the file with them; None takes Slurm's allocation.
        mpirun: The launcher; None looks for it.
        launcher_args: Arguments handed to the launcher untouched.
        network: A `.net.npz` file, or "probe:" to measure now; None measures unless a profile of
            the same hosts younger than `max_age_s` is kept.
        traffic: A `.traffic.npz` file, or "trace:" to trace now; None traces the program unless it
            was traced before.
        mode: How the network is measured, "quick" or "full".
        budget_s: Bound on the time of the probe, in `run` on that of deciding; None for the
            default.
        rule: When `run` takes a placement.
        contention: Also find what hosts and pairs share, when the network has to be measured.
        max_age_s: Age up to which a kept profile is used again.
        skip_unreachable: Leave out hosts that do not answer.
        metric: What placements weigh, "bytes" or "messages".
        objective: What decides between placements, one of `fairlead.decide.placement.OBJECTIVES`.
        time_limit_s: When the method "optimize" is to stop; None: by the number of ranks.
        seed: Seed of all random choices.
        directory: Folder of this run; None makes one under the user's state folder.
        reorder: Topologies that the program makes with `reorder=1` are placed by the network.
    """

    program: tuple[str, ...]
    num_ranks: int
    hostfile: Path | Cluster | None = None
    mpirun: str | None = None
    launcher_args: tuple[str, ...] = ()
    network: str | None = None
    traffic: Path | None = None
    mode: Literal["quick", "full"] = "quick"
    budget_s: float | None = None
    rule: Rule = DEFAULT_RULE
    contention: bool = False
    max_age_s: float = 3600.0
    skip_unreachable: bool = False
    metric: Literal["bytes", "messages"] = "bytes"
    objective: str = DEFAULT_OBJECTIVE
    time_limit_s: float | None = None
    seed: int = 0
    directory: Path | None = None
    reorder: bool = False


@dataclasses.dataclass(frozen=True)
class Prepared:
    """All that a decision needs.

    Attributes:
        probe_program: Measures further, and knows the launcher.
        cluster: Hosts that take part, each measured.
        network: The network between them, in their order.
        traffic: The traffic of the program.
        directory: Folder of this run; network and traffic are saved there.
        probe_s: Time that measuring took now; 0 where a kept profile served.
        trace_s: Time that tracing took now; 0 where a kept profile served.
        stdin: What the program reads, in the traced run and in each later one.
        is_network_given: Whether the user gave the network, and nothing is to be measured.
        profile_path: Where the network is kept for later runs; None where it is given.
        traced_s: Time of the traced run itself; None where none took place now.
    """

    probe_program: ProbeProgram
    cluster: Cluster
    network: Network
    traffic: Traffic
    directory: RunDirectory
    probe_s: float
    trace_s: float
    stdin: SharedInput = dataclasses.field(default_factory=SharedInput)
    is_network_given: bool = True
    profile_path: Path | None = None
    traced_s: float | None = None

    @property
    def launcher(self) -> Launcher:
        """What starts the program."""
        return self.probe_program.launcher


def probe_program_for(request: Request) -> ProbeProgram:
    """The measuring program by the launcher that the user has.

    Raises:
        LaunchError: There is no launcher, or not the one that was asked for.
    """
    return ProbeProgram(detect(request.mpirun), request.launcher_args)


def prepare(request: Request, narrator: Narrator, probe_program: ProbeProgram) -> Prepared:
    """Find, trace and measure; every step is noted in the run directory.

    Args:
        request: What the user asked for.
        narrator: Tells the user of each step that takes time.
        probe_program: Measures; its launcher starts the user's program too. Where the network was
            measured now it still runs afterwards.

    Raises:
        Error: A step failed; the message says which host, file or program, and what to do.
    """
    launcher = probe_program.launcher
    cluster = hosts_of(request.hostfile)
    _check(request, launcher, cluster)
    directory = RunDirectory.new(request.directory, Path(request.program[0]).name)
    directory.note("request", dataclasses.asdict(request))
    whole = cluster
    started = time.monotonic()
    network = _known(request, whole, narrator, probe_program)
    reasons = None
    if network is None:
        reasons = unreachable_hosts(launcher, whole, launcher_args=request.launcher_args)
        cluster = reachable_part(whole, reasons, request.skip_unreachable)
    else:
        cluster = _taking_part(request, whole, network, narrator)
    probe_s = 0.0 if _is_given(request) else time.monotonic() - started
    cluster.require_room_for(request.num_ranks)
    # First the program: what measures then stays for the decision, and never stands beside a run.
    probe_program.close()
    stdin = SharedInput()
    traffic, trace_s, traced_s = traced(
        request, launcher, cluster, directory, narrator, stdin=stdin
    )
    traffic.save(directory.file(run_directory.TRAFFIC))
    directory.note("traffic", {"run_time_s": traffic.run_time_s, "trace_s": trace_s})

    def measured() -> tuple[Network, Cluster, float]:
        started = time.monotonic()
        network = _measured(request, whole, narrator, probe_program, reasons)
        part = _taking_part(request, whole, network, narrator)
        return network, part, time.monotonic() - started

    if network is None:
        network, cluster, measuring_s = measured()
        probe_s += measuring_s
    problem = _implausible(network.select(cluster.hosts), traffic, cluster)
    if problem is not None:
        narrator.tell(f"network: {problem}")
        if request.network is None:
            network, cluster, measuring_s = measured()
            probe_s += measuring_s
    cluster.require_room_for(request.num_ranks)
    # A part of the hosts is no profile of all.
    is_kept = not _is_given(request) and cluster.hosts == whole.hosts
    network = network.select(cluster.hosts)
    network.save(directory.file(run_directory.NETWORK))
    directory.note("network", {"hosts": cluster.hosts, "slots": cluster.slots, "probe_s": probe_s})
    return Prepared(
        probe_program,
        cluster,
        network,
        traffic,
        directory,
        probe_s,
        trace_s,
        stdin,
        is_network_given=_is_given(request),
        profile_path=_profile_path(request, launcher, whole) if is_kept else None,
        traced_s=traced_s,
    )


def _is_given(request: Request) -> bool:
    return request.network is not None and request.network != PROBE_NOW


def _profile_path(request: Request, launcher: Launcher, cluster: Cluster) -> Path:
    return profile_cache.profile_path(cluster, launcher, request.mode, request.contention)


def _implausible(network: Network, traffic: Traffic, cluster: Cluster) -> str | None:
    """Why the network cannot be what the traced run met; None where it can."""
    if not traffic.run_time_s > 0:
        return None
    by_launcher = Placement(cluster.hosts, fill_by_slot(cluster, traffic.num_ranks), "launcher")
    least_s = evaluate(by_launcher, traffic, network).bottleneck_s
    if least_s <= IMPLAUSIBLE_RATIO * traffic.run_time_s:
        return None
    return (
        f"by these rates the program's messages take {format_duration(least_s)}, but the traced "
        f"run ended within {format_duration(traffic.run_time_s)}: measured on a busy machine?"
    )


def _check(request: Request, launcher: Launcher, cluster: Cluster) -> None:
    """Refuse before the network is measured what tracing or the launcher would refuse later."""
    cluster.require_room_for(request.num_ranks)
    if request.traffic in (None, TRACE_NOW):
        require_program(request.program)
    else:
        given_traffic(request)
    some = Placement(cluster.hosts, fill_by_slot(cluster, request.num_ranks), method="blocked")
    arguments = request.launcher_args
    launcher.check(
        LaunchSpec(request.program, request.num_ranks, cluster, some, launcher_args=arguments)
    )


def place_prepared(
    prepared: Prepared,
    request: Request,
    method: str,
    network: Network | None = None,
    time_limit_s: float | None = None,
) -> Placement:
    """The placement that a method finds for what was prepared.

    Args:
        prepared: Traffic, cluster and network.
        request: Metric, objective, seed and the user's own time limit.
        method: Name of the method.
        network: What to place on instead of the prepared network.
        time_limit_s: For `optimize`, where the user has given none.

    Raises:
        InputError: The method is unknown.
    """
    limit_s = time_limit_s if request.time_limit_s is None else request.time_limit_s
    return place(
        prepared.traffic,
        prepared.network if network is None else network,
        prepared.cluster,
        method=method,
        metric=request.metric,
        objective=request.objective,
        seed=request.seed,
        time_limit_s=limit_s if method == "optimize" else None,
    )


def hosts_of(hostfile: Path | Cluster | None) -> Cluster:
    """Hosts as given, from the hostfile, or from the Slurm allocation that this runs in.

    Raises:
        InputError: There is neither.
    """
    if isinstance(hostfile, Cluster):
        return hostfile
    if hostfile is not None:
        return read_hostfile(hostfile)
    cluster = cluster_from_slurm()
    if cluster is None:
        raise InputError(
            "no hosts: give --hostfile FILE or -H h0:4,h1:4, or run inside a Slurm allocation"
        )
    return cluster


def _known(
    request: Request, cluster: Cluster, narrator: Narrator, probe_program: ProbeProgram
) -> Network | None:
    """The network that the user gave, or a kept one that still holds; None where it is unknown."""
    if _is_given(request):
        assert request.network is not None
        return Network.load(request.network)
    if request.network == PROBE_NOW:
        return None
    kept = profile_cache.recall(
        _profile_path(request, probe_program.launcher, cluster),
        cluster,
        request.max_age_s,
        skip_unreachable=request.skip_unreachable,
    )
    if kept is None:
        return None
    return refreshed(kept, cluster, narrator, probe_program)


def _measured(
    request: Request,
    cluster: Cluster,
    narrator: Narrator,
    probe_program: ProbeProgram,
    unreachable: Mapping[str, str] | None,
) -> Network:
    """The network as it is now, which is kept for later runs."""
    narrator.tell(f"network: probing {cluster.num_hosts} hosts ({request.mode})")
    with narrator.progress("probing") as on_progress:
        network = probe(
            probe_program.launcher,
            cluster,
            mode=request.mode,
            budget_s=request.budget_s,
            skip_unreachable=request.skip_unreachable,
            launcher_args=request.launcher_args,
            contention=request.contention,
            on_progress=on_progress,
            unreachable=unreachable,
            program=probe_program,
        )
    with _keeping("network", narrator):
        path = _profile_path(request, probe_program.launcher, cluster)
        profile_cache.remember(Profile(path, network))
    return network


def _taking_part(
    request: Request, cluster: Cluster, network: Network, narrator: Narrator
) -> Cluster:
    """The hosts that could be reached; the others are named, and left out where that was asked."""
    reasons = network.unreachable.items()
    missing = {host: reason for host, reason in reasons if host in cluster.hosts}
    if missing and not request.skip_unreachable:
        named = "; ".join(f"host {host!r} ({reason})" for host, reason in missing.items())
        raise TopologyError(
            f"{request.network or 'network'}: measured without {named}; measure anew by --network "
            "probe:, or leave the host out by --skip-unreachable"
        )
    for host, reason in missing.items():
        narrator.tell(f"network: host {host!r} is left out: {reason}")
    return measured_part(cluster, network)


def measured_part(cluster: Cluster, network: Network) -> Cluster:
    """The cluster without the hosts that the probe could not reach.

    Raises:
        TopologyError: No host remains, or a pair of those that remain is unmeasured.
    """
    kept = [host for host in cluster.hosts if host not in network.unreachable]
    if not kept:
        raise TopologyError("network: none of these hosts could be reached")
    part = cluster.select(kept)
    gaps = network.select(part.hosts).unmeasured_pairs()
    if gaps:
        (src, dst), more = gaps[0], len(gaps) - 1
        raise TopologyError(
            f"network: {src} -> {dst} was not measured{f', nor {more} more pairs' if more else ''}"
            ": give the probe more time (--budget), or leave the host out of the hostfile"
        )
    return part


class TracedProgram(NamedTuple):
    """What is known of a program's traffic.

    Attributes:
        traffic: What its ranks send.
        trace_s: Time that tracing took now; 0 where that was not needed.
        seconds: Time of the traced run itself; None where none took place now.
    """

    traffic: Traffic
    trace_s: float = 0.0
    seconds: float | None = None


def traced(
    request: Request,
    launcher: Launcher,
    cluster: Cluster,
    directory: RunDirectory,
    narrator: Narrator,
    *,
    stdin: SharedInput | None = None,
) -> TracedProgram:
    """The traffic of the program, from the file, from before, or of a run now.

    Without `stdin` a run now reads nothing.

    Raises:
        Error: The file cannot be read or is of other ranks, or the traced run failed.
    """
    given = given_traffic(request)
    if given is not None:
        return TracedProgram(given)
    if request.traffic is None:
        kept = profile_cache.recall_traffic(request.program, request.num_ranks, launcher)
        if kept is not None:
            found = "" if kept.total.messages.nnz else "; it sent nothing"
            narrator.tell(f"traffic: this program was traced before with as many ranks{found}")
            return TracedProgram(kept)
    log = directory.file("trace.log")
    narrator.tell(
        f"traffic: tracing one run of {request.program[0]} first; all that it prints comes on "
        f"stderr, and goes to {log}"
    )
    spec = LaunchSpec(
        request.program, request.num_ranks, cluster, launcher_args=request.launcher_args
    )
    inputs = profile_cache.input_files(request.program)
    started = time.monotonic()
    with stdin.opened() if stdin else contextlib.nullcontext(subprocess.DEVNULL) as source:
        # Standard output belongs to the run that the user asked for: one result, not two.
        try:
            traffic, seconds = trace(launcher, spec, log=log, stdin=source, stdout=2)
        except NoTraceError as error:
            narrator.tell(f"traffic: {error}; it is run as the launcher places it")
            seconds = time.monotonic() - started
            traffic = _silent(request.num_ranks, str(error), seconds)
    trace_s = time.monotonic() - started
    narrator.tell(f"traffic: the traced run has ended, after {format_duration(trace_s)}")
    with _keeping("traffic", narrator):
        profile_cache.remember_traffic(
            traffic, request.program, request.num_ranks, launcher, inputs
        )
    return TracedProgram(traffic, trace_s, seconds)


def _silent(num_ranks: int, why: str, seconds: float) -> Traffic:
    """The traffic of a program that sends nothing that can be traced."""
    nothing = sp.csr_array((num_ranks, num_ranks))
    origin = {"how": "no trace", "why": why, "seconds": seconds}
    return Traffic(nothing, nothing, run_time_s=seconds, origin=origin)


@contextlib.contextmanager
def _keeping(what: str, narrator: Narrator) -> Iterator[None]:
    """What cannot be kept for later runs still serves this one."""
    try:
        yield
    except InputError as error:
        narrator.tell(f"{what}: not kept for later runs: {error}")


def given_traffic(request: Request) -> Traffic | None:
    """The traffic of the file that the user named; None where none is named.

    Raises:
        InputError: The file cannot be read or is of other ranks.
    """
    if request.traffic is None or request.traffic == TRACE_NOW:
        return None
    traffic = Traffic.load(request.traffic)
    if traffic.num_ranks != request.num_ranks:
        raise InputError(
            f"{request.traffic}: holds the traffic of {traffic.num_ranks} ranks, "
            f"but {request.num_ranks} are to run; trace the program with -n {request.num_ranks}"
        )
    return traffic
