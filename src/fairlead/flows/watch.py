# SPDX-License-Identifier: Apache-2.0
"""`fairlead watch`: compare the network with the plan of a run while that runs."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fairlead.act.launch import detect
from fairlead.errors import Error, InputError, ProbeError
from fairlead.files import run_directory
from fairlead.measure.long_trains import measure_with_long_trains
from fairlead.measure.network_sources.oracle import PREFIX as ORACLE
from fairlead.measure.network_sources.probe import ProbeSource
from fairlead.measure.oracle import HotLink, hot_links, oracle_network
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.watch.past_runs import has_run_ended, load_cluster, load_steps
from fairlead.watch.plan_watch import PlanWatcher, program_rates
from fairlead.watch.stale import is_stale, mark_stale

__all__ = ["Observation", "WatchedRun", "load_run", "watch"]

OBSERVE_S = 0.2
"""Most time of measuring at each observation: it takes bandwidth from the program."""


@dataclasses.dataclass(frozen=True)
class WatchedRun:
    """A run whose plan is watched.

    Attributes:
        folder: Folder of the run.
        cluster: Hosts that take part.
        network: What the plan was made from.
        planned: The part of it that observations are compared with; `nan` elsewhere.
        placement: The placement of its ranks.
        traffic: The traffic of its program.
        source: Where the network is observed: "probe:" or "oracle:URL?metric=NAME".
        mpirun: The launcher that the user named; None: the one found.
        launcher_args: Its further arguments.
        profile: The network as it is kept for later runs; None where it is not.
    """

    folder: Path
    cluster: Cluster
    network: Network
    planned: Network
    placement: Placement
    traffic: Traffic
    source: str
    mpirun: str | None = None
    launcher_args: tuple[str, ...] = ()
    profile: Path | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended."""
        return has_run_ended(self.folder)


@dataclasses.dataclass(frozen=True)
class Observation:
    """What is known after an observation.

    Attributes:
        run: What is watched.
        watcher: All pairs.
        links: Those that messages wait for longest, where an oracle reports them.
        is_stale: Whether the plan does not hold any more.
        problem: Why nothing could be observed, or None.
    """

    run: WatchedRun
    watcher: PlanWatcher
    links: Sequence[HotLink]
    is_stale: bool
    problem: str | None = None


def load_run(folder: Path, source: str | None = None) -> WatchedRun:
    """A run by what it has left so far.

    Args:
        folder: Folder of the run.
        source: Where the network is observed; None: where the run had it from.

    Raises:
        InputError: It is not the folder of a run, nothing is decided there yet, or its network was
            given as a file.
    """
    if not (folder / run_directory.RECORD).is_file():
        raise InputError(f"{folder}: not the folder of a run; fairlead runs lists yours")
    steps = load_steps(folder)
    if "decision" not in steps:
        raise InputError(f"{folder}: has no plan to watch: nothing is decided there yet")
    asked, found = steps.get("request", {}), steps.get("network", {})
    launcher = asked.get("launcher", {})
    own = asked.get("network", {}).get("source") or ProbeSource.form
    chosen = own if source is None else source
    if chosen != ProbeSource.form and not chosen.startswith(ORACLE):
        raise InputError(
            f"{folder}: its network was the file {chosen}, which does not change; "
            "give --network probe: or --network oracle:URL?metric=NAME"
        )
    network = Network.load(folder / run_directory.NETWORK)
    profile = found.get("profile")
    return WatchedRun(
        folder,
        load_cluster(folder),
        network,
        _plan_values(folder, network, is_same_oracle=chosen == own and chosen != ProbeSource.form),
        Placement.load(folder / run_directory.PLACEMENT),
        Traffic.load(folder / run_directory.TRAFFIC),
        chosen,
        launcher.get("mpirun"),
        tuple(launcher.get("arguments", ())),
        None if profile is None else Path(profile),
    )


def _plan_values(folder: Path, network: Network, *, is_same_oracle: bool) -> Network:
    """Values of the plan that were found in the same way as observations will be."""
    if is_same_oracle:
        return network
    measured = folder / run_directory.MEASURED_AGAIN
    if measured.is_file():
        return Network.load(measured).select(network.hosts)
    unknown = np.full((network.num_hosts, network.num_hosts), np.nan)
    return Network(network.hosts, unknown, unknown.copy())


Observe = Callable[[WatchedRun, PlanWatcher], Network]


def watch(
    run: WatchedRun,
    show: Callable[[Observation], None],
    *,
    every_s: float,
    num_rounds: int | None = None,
    observe: Observe | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Observation:
    """Observe again and again until the program ends; a plan that does not hold is marked once.

    Args:
        run: What is watched.
        show: Gets each observation.
        every_s: Time between two of them.
        num_rounds: Most observations; None until the program has ended.
        observe: Observes some hosts; by default by the run's source.
        sleep: Waits.

    Returns:
        The last observation.

    Raises:
        ProbeError: Nothing could be observed in all the time.
    """
    # An oracle reports what the links do, by any sender; a probe meets the program's own messages.
    is_probed = run.source == ProbeSource.form
    program_Bps = program_rates(run.traffic, run.placement, run.network.hosts)
    watcher = PlanWatcher(run.planned, program_Bps if is_probed else None)
    observed = observe or (_probe if is_probed else _ask_oracle)
    is_marked = is_stale(run.folder)
    for num_done in itertools.count(1):
        problem: str | None = None
        links: Sequence[HotLink] = ()
        try:
            watcher.add(observed(run, watcher))
            links = () if is_probed else hot_links(run.source.removeprefix(ORACLE))
        except (Error, OSError) as error:
            problem = str(error)
        if watcher.is_stale and not is_marked:
            mark_stale(run.folder, watcher.drifted(), run.profile)
            is_marked = True
        now = Observation(run, watcher, links, is_marked, problem)
        show(now)
        if run.has_ended or num_done == num_rounds:
            break
        sleep(every_s)
    if watcher.num_rounds == 0:
        raise ProbeError(f"{run.folder}: nothing was observed: {now.problem}")
    return now


def _probe(run: WatchedRun, watcher: PlanWatcher) -> Network:
    """A few hosts, measured by trains of 64 KiB.

    The measuring processes end after each observation: waiting ones would take the program's cores.
    """
    hosts = watcher.next_hosts(seed=int(time.time()))
    part = run.cluster.select(hosts)
    pairs = ~np.eye(part.num_hosts, dtype=bool)
    with ProbeProgram(detect(run.mpirun), run.launcher_args) as program:
        found = measure_with_long_trains(program, part, pairs, OBSERVE_S)
    if found is None:
        raise ProbeError(f"one of the hosts {', '.join(hosts)} does not answer")
    return found


def _ask_oracle(run: WatchedRun, watcher: PlanWatcher) -> Network:
    """All hosts, by the oracle."""
    del watcher
    return oracle_network(run.source.removeprefix(ORACLE), run.cluster.hosts)
