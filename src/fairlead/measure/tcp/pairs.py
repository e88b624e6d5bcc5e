# SPDX-License-Identifier: Apache-2.0
"""Measures all pairs of hosts over TCP, or a part of them, and makes a network of it."""

from __future__ import annotations

import dataclasses
import datetime
import math
import time
from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead import _core
from fairlead.errors import ProbeError
from fairlead.measure.probe_result import Pair, ProbeResult
from fairlead.measure.sampling import SampleDesign, complete
from fairlead.measure.sampling.rounds import measure_in_batches
from fairlead.measure.tcp.probes import TcpProbes
from fairlead.model.network import Network
from fairlead.narrator import Progress

__all__ = ["measure_pairs", "usual_sample"]

_ROUND_TRIP_BYTES = 1
_MOST_AFTER_ANOTHER = 64
"""Pairs one after another up to which all are measured; each takes some 0.1 s."""
_GRACE_S = 5.0
"""What an answer may take longer than the limits of the order itself."""


@dataclasses.dataclass(frozen=True)
class _Precision:
    """As the program takes them, see tcp_probe/leader.hpp."""

    target_ratio: float = 0.2
    max_samples: int = 6
    limit_s: float = 10.0
    silence_timeout_s: float = 10.0


def measure_pairs(
    probes: TcpProbes,
    *,
    hosts: Sequence[str] | None = None,
    sample: SampleDesign | None = None,
    concurrency: int = 0,
    silence_timeout_s: float = 10.0,
    on_progress: Progress | None = None,
) -> Network:
    """Measure latency and bandwidth between all hosts, in both directions.

    Args:
        probes: The programs on all hosts that answer.
        hosts: Hosts of the network, with `nan` for those without a program; None: all with one.
        sample: Measure a part of the pairs only and estimate the others; None for all.
        concurrency: Pairs measured at the same time; 0 for all disjoint pairs, or if the hosts are
            containers of one machine, one for two of its cores.
        silence_timeout_s: Silence after which a host is given up.
        on_progress: Gets pairs done and pairs in all.

    Returns:
        The network in the order of `hosts`; pairs that failed are `nan`.

    Raises:
        ProbeError: No pair could be measured; the message has the reason of one.
    """
    began_s = time.monotonic()
    rounds = _Rounds(
        probes, concurrency or _usual_concurrency(probes), silence_timeout_s, on_progress
    )
    num_hosts = len(probes.hosts)
    if sample is None:
        asked = ~np.eye(num_hosts, dtype=bool)
        rounds.measure(asked, 1.0)
    else:
        asked = measure_in_batches(sample, num_hosts, rounds.measure)
    origin = {
        "how": "measured",
        "by": "tcp",
        "concurrency": rounds.concurrency,
        "round_trip_bytes": _ROUND_TRIP_BYTES,
        "message_bytes": rounds.train_bytes,
        "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "probing_s": time.monotonic() - began_s,
    }
    whole = tuple(hosts or probes.hosts)
    network = rounds.result().to_network(whole, probes.hosts, origin)
    if num_hosts > 1 and not rounds.pairs:
        raise ProbeError(f"no pair of hosts could be measured: {rounds.failure}")
    if asked.sum() == asked.size - num_hosts:
        return network
    rows = np.ix_(*[[whole.index(host) for host in probes.hosts]] * 2)
    is_lost = np.zeros((len(whole), len(whole)), dtype=bool)
    is_lost[rows] = asked
    return complete(network, is_lost & np.isnan(network.latency_s), sample.seed if sample else 0)


def usual_sample(probes: TcpProbes, seed: int) -> SampleDesign | None:
    """A part of the pairs where all of them would take long; None for all."""
    num_pairs = math.comb(len(probes.hosts), 2)
    is_many = num_pairs > _MOST_AFTER_ANOTHER * _usual_concurrency(probes)
    return SampleDesign(seed=seed) if is_many else None


def _usual_concurrency(probes: TcpProbes) -> int:
    """As the probe by MPI: a process that measures keeps a core busy."""
    hosts, cores = probes.count_hosts_of_machines()
    all_pairs = max(1, len(probes.hosts) // 2)
    return min(all_pairs, max(1, cores // 2)) if hosts > cores else all_pairs


class _Rounds:
    """Pairs in the order of a tournament; each begins when both hosts are free."""

    def __init__(
        self,
        probes: TcpProbes,
        concurrency: int,
        silence_timeout_s: float,
        on_progress: Progress | None,
    ) -> None:
        self.probes, self.concurrency = probes, concurrency
        self.precision = _Precision(silence_timeout_s=silence_timeout_s)
        self.pairs: list[Pair] = []
        self.failure = "it was not tried"
        self.train_bytes = 1
        self._on_progress = on_progress
        self._gone: set[str] = set()
        self._began_s = time.monotonic()

    def measure(self, wanted: npt.NDArray[np.bool_], share_ratio: float) -> Network | None:
        """Measure the pairs of a mask, and return all that is known so far."""
        del share_ratio  # There is no budget.
        hosts = self.probes.hosts
        meetings = _core.tournament(len(hosts))[:, 1:]
        pending = deque((int(low), int(high)) for low, high in meetings if wanted[low, high])
        num_pairs, num_done = len(pending), 0
        running: dict[str, tuple[int, int]] = {}
        while pending or running:
            self._start_free(pending, running)
            if not running:
                break  # What is left needs hosts that are gone.
            found = self.probes.next_answer(
                self.precision.limit_s + 2 * self.precision.silence_timeout_s + _GRACE_S
            )
            if found is None:
                self._give_up(running)
                continue
            leader, answer = found
            pair = running.pop(leader, None)
            if pair is None:
                continue
            if "failed" in answer:
                self.failure = f"{hosts[pair[0]]} and {hosts[pair[1]]}: {answer['failed']}"
                if answer["failed"] == "its program has ended":
                    self._gone.add(leader)
            else:
                self._take(pair, answer)
            num_done += 1
            if self._on_progress:
                self._on_progress(num_done, num_pairs)
        return self.result().to_network(hosts, hosts, {})

    def result(self) -> ProbeResult:
        """All that was found."""
        return ProbeResult(
            format="fairlead-probe",
            version=1,
            mode="quick",
            round_trip_bytes=_ROUND_TRIP_BYTES,
            message_bytes=self.train_bytes,
            concurrency=self.concurrency,
            num_rounds=len(self.pairs),
            probing_s=time.monotonic() - self._began_s,
            node_names=list(self.probes.hosts),
            host_identities=self.probes.host_identities(),
            pairs=self.pairs,
        )

    def _start_free(
        self, pending: deque[tuple[int, int]], running: dict[str, tuple[int, int]]
    ) -> None:
        busy = {host for pair in running.values() for host in pair}
        hosts = self.probes.hosts
        waiting: list[tuple[int, int]] = []
        # Two rounds of a tournament: who is free has a pair there, or waits for a slower one.
        while pending and len(running) < self.concurrency and len(waiting) < 2 * len(hosts):
            low, high = pending.popleft()
            if {hosts[low], hosts[high]} & self._gone:
                continue
            if {low, high} & busy:
                waiting.append((low, high))
                continue
            busy |= {low, high}
            running[hosts[low]] = (low, high)
            order = {"do": "measure", "peer": self.probes.place(hosts[high])}
            self.probes.send(hosts[low], order | dataclasses.asdict(self.precision))
        pending.extendleft(reversed(waiting))

    def _give_up(self, running: dict[str, tuple[int, int]]) -> None:
        for leader in running:
            self._gone.add(leader)
            self.failure = f"{leader}: did not answer"
        running.clear()

    def _take(self, pair: tuple[int, int], answer: object) -> None:
        assert isinstance(answer, dict)
        try:
            numbers = [answer[name] for name in ("latency_s", "there_Bps", "back_Bps")]
            self.pairs.append(Pair(*pair, *(value for number in numbers for value in number)))
            self.train_bytes = max(self.train_bytes, int(answer["train_bytes"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ProbeError(f"the program for measuring over TCP answered {answer}") from error
