# SPDX-License-Identifier: Apache-2.0
"""Measures the network between hosts by one MPI process on each of them."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairlead.act import mpi_builds
from fairlead.act.launch import Finished, Launcher
from fairlead.act.launch.open_files import explain_lack_of_files
from fairlead.errors import InputError, ProbeError
from fairlead.measure.contention_result import CONTENTION_FORMAT, read_contention
from fairlead.measure.failed_probe import reason_of
from fairlead.measure.host_insides import (
    INSIDE_FORMAT,
    INSIDE_ORDER,
    measure_rates,
    read_insides,
)
from fairlead.measure.one_machine import require_planned_hosts
from fairlead.measure.probe_program import PROGRESS, ProbeProgram, chosen_pairs
from fairlead.measure.probe_result import PAIRS_FORMAT, ProbeResult, read_result
from fairlead.measure.reachable import reachable_part, reason_of_host
from fairlead.measure.sampling import SampleDesign, complete
from fairlead.measure.sampling.rounds import measure_in_batches
from fairlead.model.cluster import Cluster
from fairlead.model.flows_summary import FlowsSummary
from fairlead.model.host_inside import HostInside
from fairlead.model.network import Network
from fairlead.narrator import Progress

__all__ = ["Precision", "probe"]

# Flows run for a tenth of a second each, ten to a hundred times per host.
_CONTENTION_TIMEOUT_S = 1800

# No launcher needs less time to start and end.
_LEAST_TIMEOUT_S = 1.0

_LOST = "did not answer any more during the measurement"

_ERROR = re.compile(r"fairlead-probe: error (.*)$")


@dataclasses.dataclass(frozen=True)
class Precision:
    """How precisely pairs are measured, and how long at most.

    Attributes:
        target_ratio: A metric of a pair is done when its 95 % interval is no wider than this
            fraction of its median.
        max_samples: It is also done after this many samples.
        timeout_s: Time that launch and measurement may take together.
    """

    target_ratio: float
    max_samples: int
    timeout_s: float


PRECISIONS: Mapping[str, Precision] = {
    "quick": Precision(target_ratio=0.2, max_samples=6, timeout_s=120),
    "full": Precision(target_ratio=0.05, max_samples=30, timeout_s=1800),
}


def probe(
    launcher: Launcher,
    cluster: Cluster,
    mode: Literal["quick", "full"] = "quick",
    *,
    target_ratio: float | None = None,
    max_samples: int | None = None,
    budget_s: float | None = None,
    sample: SampleDesign | None = None,
    concurrency: int = 0,
    skip_unreachable: bool = False,
    reach_timeout_s: float = 10.0,
    silence_timeout_s: float = 10.0,
    timeout_s: float | None = None,
    launcher_args: Sequence[str] = (),
    contention: bool = False,
    host_rates: bool = True,
    on_progress: Progress | None = None,
    unreachable: Mapping[str, str] | None = None,
    program: ProbeProgram | None = None,
) -> Network:
    """Measure latency and bandwidth between all hosts, in both directions.

    Args:
        launcher: Starts the measuring program, one process per host.
        cluster: The hosts; slots do not matter.
        mode: "quick" sends messages of 1 KiB only; "full" sends 1 B and 8 MiB.
        target_ratio: A metric of a pair is done when its interval is this narrow; None for the
            mode's own.
        max_samples: It is also done after this many samples; None for the mode's own.
        budget_s: Time of measuring, shared by all pairs; what does not fit is `nan`. With
            `contention`, the pairs have half of it.
        sample: Measure a part of the pairs only and estimate the others; None for all. What
            does not fit into the budget is then estimated too.
        concurrency: Pairs measured at the same time; 0 for all disjoint pairs, or if the hosts are
            containers of one machine, one for two of its cores.
        skip_unreachable: Measure the rest when a host does not answer; its pairs are `nan`.
        reach_timeout_s: Time within which each host has to answer.
        silence_timeout_s: Silence after which a host is given up during the measurement.
        timeout_s: Time that launch and measurement may take, at least 1 s; None for the mode's own.
        launcher_args: The user's own arguments for the launcher.
        contention: Afterwards, run flows together, and find what each host's interface carries
            and which pairs share a bottleneck. Where that fails the pairs are kept, and
            `flows` says why.
        host_rates: After the pairs, measure how fast each host computes, for about a tenth of a
            second.
        on_progress: Gets rounds done and rounds in all.
        unreachable: Hosts that do not answer, with the reason of each; None asks all of them.
        program: Is left running for further orders; None starts one and ends it.

    Returns:
        The network in the order of `cluster.hosts`, with the inside of each; `unreachable` has
        those that did not answer, `origin` describes the measurement.

    Raises:
        ProbeError: A host does not answer, or the measurement failed; the message names it.
        InputError: An argument is out of its range.
        LaunchError: The launcher cannot be used.

    Source: CloudMap (1 KiB round trips) and CMPI section 4.1 (latency-bandwidth model).
    """
    precision = _precision(mode, target_ratio, max_samples, timeout_s)
    _check(precision, budget_s, concurrency, silence_timeout_s)
    if sample is not None:
        sample.check(cluster.num_hosts)
    running = program or ProbeProgram(launcher, launcher_args)
    running.require_built()
    reasons = unreachable
    if reasons is None:
        reasons = running.unreachable_hosts(cluster, reach_timeout_s)
    reachable = reachable_part(cluster, reasons, skip_unreachable)
    options = {
        "mode": mode,
        "target_ratio": precision.target_ratio,
        "max_samples": precision.max_samples,
        "concurrency": concurrency,
        "silence_timeout_s": silence_timeout_s,
        **({"hosts": True} if host_rates else {}),
        **({"contention": True} if contention else {}),
        **({} if budget_s is None else {"budget_s": budget_s}),
    }
    if contention and sample is not None:
        raise InputError("sample and contention: one run measures either; leave one of them out")
    if contention and timeout_s is None:
        precision = dataclasses.replace(
            precision, timeout_s=precision.timeout_s + _CONTENTION_TIMEOUT_S
        )
    asked = None
    with contextlib.nullcontext() if program else running:
        orders = _Orders(
            running,
            options,
            reachable,
            timeout_s=precision.timeout_s,
            budget_s=budget_s,
            on_progress=on_progress,
        )
        if sample is not None:
            asked = measure_in_batches(sample, reachable.num_hosts, orders.measure_part)
        result = orders.found or orders.measure()
        insides = orders.insides
        if not result.lost_ranks:
            insides = measure_rates(running, reachable, insides)
    origin = {
        "how": "measured",
        **{name: value for name, value in options.items() if name != "hosts"},
        "concurrency": result.concurrency,
        "round_trip_bytes": result.round_trip_bytes,
        "message_bytes": result.message_bytes,
        "mpi": mpi_builds.mpi_title(launcher.family, launcher.version),
        "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "probing_s": result.probing_s,
    }
    network = dataclasses.replace(
        result.to_network(cluster.hosts, reachable.hosts, origin),
        unreachable=dict(reasons) | {reachable.hosts[rank]: _LOST for rank in result.lost_ranks},
        launch_s=max(0.0, orders.seconds - result.probing_s),
        insides=insides,
    )
    if contention:
        return _with_contention(network, reachable, orders.finished)
    if sample is None or asked is None:
        return network
    return _complete(network, sample, reachable, asked, result)


@dataclasses.dataclass
class _Orders:
    """A sequence of orders to the measuring program, for the same hosts.

    Attributes:
        timeout_s: What all of them together may take.
        budget_s: What is left of the time of measuring; None without bound.
        seconds: What they took so far.
        finished: What the last one printed.
        found: What those of `measure_part` found so far.
        insides: The inside of each host, which the first order reads, without rates.
    """

    program: ProbeProgram
    options: Mapping[str, object]
    cluster: Cluster
    timeout_s: float
    budget_s: float | None
    on_progress: Progress | None
    seconds: float = 0.0
    finished: Finished | None = None
    found: ProbeResult | None = None
    insides: dict[str, HostInside] = dataclasses.field(default_factory=dict)

    def measure(
        self, pairs: npt.NDArray[np.bool_] | None = None, share_ratio: float = 1.0
    ) -> ProbeResult:
        """Measure all pairs, or those of a mask, in this share of the remaining budget."""
        options = dict(self.options)
        if self.budget_s is not None:
            options["budget_s"] = self.budget_s * share_ratio
        if pairs is not None:
            options["pairs"] = chosen_pairs(pairs)
        if self.found is not None and self.found.hosts:
            options.pop("hosts", None)  # Once is enough.
        formats = [PAIRS_FORMAT, *([CONTENTION_FORMAT] if "contention" in options else [])]
        is_first = not self.insides
        if is_first:
            options |= INSIDE_ORDER
            formats.append(INSIDE_FORMAT)
        self.finished = finished = self.program.order(
            self.cluster,
            options,
            timeout_s=max(_LEAST_TIMEOUT_S, self.timeout_s - self.seconds),
            formats=formats,
            on_progress=self.on_progress,
        )
        if is_first:
            self.insides = read_insides(finished.stdout, self.cluster.hosts)
        result = read_result(finished.stdout, self.cluster.num_hosts)
        if result is None:
            raise _failure(self.program, self.cluster, finished)
        require_planned_hosts(self.cluster.hosts, result.node_names)
        if self.on_progress:
            self.on_progress(result.num_rounds, result.num_rounds)
        self.seconds += finished.seconds
        return result

    def measure_part(self, pairs: npt.NDArray[np.bool_], share_ratio: float) -> Network | None:
        """Measure further pairs; None when the budget is spent or a host does not answer."""
        result = self.measure(pairs, share_ratio)
        self.found = result if self.found is None else self.found.join_results(result)
        if self.budget_s is not None:
            self.budget_s -= result.probing_s
            if self.budget_s <= 0:
                return None
        if result.lost_ranks:
            return None
        return self.found.to_network(self.cluster.hosts, self.cluster.hosts, {})


def _complete(
    network: Network,
    sample: SampleDesign,
    reachable: Cluster,
    asked: npt.NDArray[np.bool_],
    result: ProbeResult,
) -> Network:
    """The network with estimates, except where hosts were asked to talk and could not."""
    if asked.sum() == asked.size - len(asked):
        num_pairs = int(asked.sum()) // 2
        found = {"measured_pairs": num_pairs, "all_pairs": num_pairs}
        return dataclasses.replace(network, origin={**network.origin, "sample": found})
    is_lost = asked & ~result.completed_pairs()
    silent = result.lost_ranks
    is_lost[silent, :] = is_lost[:, silent] = True
    rows = np.array([network.index(host) for host in reachable.hosts])
    lost = np.zeros((network.num_hosts, network.num_hosts), dtype=bool)
    lost[np.ix_(rows, rows)] = is_lost
    return complete(network, lost, sample.seed)


def _with_contention(network: Network, reachable: Cluster, finished: Finished | None) -> Network:
    assert finished is not None
    found = read_contention(finished.stdout, reachable.num_hosts)
    if found is not None:
        return found.add_to(network, reachable.hosts)
    lines = [line.strip() for line in finished.stderr.splitlines() if line.strip("-* \t\n")]
    said = [line for line in lines if not PROGRESS.search(line)]
    problem = (
        _ERROR.sub(r"\1", said[-1])
        if said
        else f"the program ended with exit code {finished.returncode}"
    )
    return dataclasses.replace(network, flows=FlowsSummary(is_complete=False, error=problem))


def _precision(
    mode: str, target_ratio: float | None, max_samples: int | None, timeout_s: float | None
) -> Precision:
    if mode not in PRECISIONS:
        raise InputError(f"probe: mode: expected {' or '.join(PRECISIONS)}, got {mode!r}")
    default = PRECISIONS[mode]
    return Precision(
        default.target_ratio if target_ratio is None else target_ratio,
        default.max_samples if max_samples is None else max_samples,
        default.timeout_s if timeout_s is None else timeout_s,
    )


def _check(
    precision: Precision, budget_s: float | None, concurrency: int, silence_timeout_s: float
) -> None:
    positive = {"target_ratio": precision.target_ratio, "max_samples": precision.max_samples}
    positive["silence_timeout_s"] = silence_timeout_s
    if budget_s is not None:
        positive["budget_s"] = budget_s
    for name, value in positive.items():
        if not 0 < value < math.inf:
            raise InputError(f"probe: {name}: expected a finite number > 0, got {value}")
    if precision.timeout_s < _LEAST_TIMEOUT_S:
        raise InputError(
            f"probe: timeout_s: expected at least {_LEAST_TIMEOUT_S:g}, got {precision.timeout_s:g}"
        )
    if concurrency < 0:
        raise InputError(f"probe: concurrency: expected a number >= 0, got {concurrency}")


def _failure(program: ProbeProgram, cluster: Cluster, finished: Finished) -> ProbeError:
    """The error that names the hosts that fail now, or the launcher's last words."""
    reasons = program.unreachable_hosts(cluster)
    if reasons:
        return ProbeError(
            f"the measurement failed: {reason_of_host(reasons)}; repair or remove the host, or "
            "leave it out by --skip-unreachable"
        )
    return ProbeError(
        f"the measurement failed: {program.launcher.path} ended with exit code "
        f"{finished.returncode}: {reason_of(finished.stderr)}"
        f"{explain_lack_of_files(cluster.num_hosts)}"
    )
