#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often an expected gain is called beyond noise where it is none, and where it is real.

A known network is measured with noise, a method places on the measurement, and several ways judge
the gain: "as measured" draws around the measured values, "one mean" first moves all values towards
their common mean, "groups" is `expected_gain`, "optimism" places anew on ten draws and subtracts
what these gains lose on the measurement, "halves" places on the measurement plus noise and judges
on the measurement minus the same noise, 20 times.

"pairwise" networks have lognormal rates of sigma 0.5, "faint" ones of sigma 0.1; racks differ 5x.

Printed are cases called beyond noise, with 95 % intervals. Where nothing is to be gained that is
the rate of false calls, elsewhere the power.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import scipy.stats
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.decide.expected_gain import Gain, expected_gain, gain_under_noise
from fairlead.decide.noise import NORMAL_95
from fairlead.decide.placement import COST_OF_OBJECTIVE, DEFAULT_OBJECTIVE, OBJECTIVES

Matrix = npt.NDArray[np.float64]

SLOTS = 4
FAST_BPS, SLOW_BPS = 125e6, 25e6
LATENCY_S = 5e-5
NOISES = (0.02, 0.05, 0.1)
NO_GAIN_RATIO = 1e-6
"""Up to here a gain is rounding."""

LEAST_GAIN_RATIO = 0.01
"""Cases with a true gain between the two are left out: whether it is found matters little."""

NUM_PLACED_ANEW = {"optimism": 10, "halves": 20}


@dataclasses.dataclass(frozen=True)
class Case:
    """One measurement of a network that is known.

    Attributes:
        true_Bps: The network.
        measured: What was measured, with intervals.
        noise: Standard deviation of the logarithm of each value, as the intervals show it.
        traffic: To be placed.
        method: Places it.
        objective: What it places by, and what gains are counted in.
        seed: For the placement and all draws.
    """

    true_Bps: Matrix
    measured: fl.Network
    noise: float
    traffic: fl.Traffic
    method: str
    objective: str
    seed: int

    @functools.cached_property
    def chosen(self) -> fl.Placement:
        return self.placed(self.measured)

    @functools.cached_property
    def baseline(self) -> fl.Placement:
        return fl.place(self.traffic, self.measured, self.cluster, "launcher")

    @property
    def cluster(self) -> fl.Cluster:
        return fl.Cluster.uniform(self.measured.hosts, SLOTS)

    def placed(self, network: fl.Network) -> fl.Placement:
        return fl.place(
            self.traffic,
            network,
            self.cluster,
            self.method,
            objective=self.objective,
            seed=self.seed,
        )

    def gain(self, placement: fl.Placement, network: fl.Network) -> float:
        after, before = (
            getattr(fl.evaluate(one, self.traffic, network), COST_OF_OBJECTIVE[self.objective])
            for one in (placement, self.baseline)
        )
        return 1 - after / before

    def judged(self, judge: Callable[..., Gain], network: fl.Network) -> Gain:
        cost = COST_OF_OBJECTIVE[self.objective]
        return judge(self.chosen, self.baseline, self.traffic, network, self.seed, cost=cost)

    def moved(self, log_step: Matrix) -> fl.Network:
        """The measurement with each bandwidth changed by this step of its logarithm."""
        moved_Bps = self.measured.bandwidth_Bps * np.exp(log_step)
        return dataclasses.replace(self.measured, bandwidth_Bps=moved_Bps)

    def steps(self, count: int) -> Matrix:
        """Draws of the measurement's noise, shape (count, H, H)."""
        shape = (count, *self.true_Bps.shape)
        return np.random.default_rng([2, self.seed]).normal(0, self.noise, shape)


def as_measured(case: Case) -> Gain:
    return case.judged(gain_under_noise, case.measured)


def one_mean(case: Case) -> Gain:
    is_pair = ~np.eye(len(case.true_Bps), dtype=bool)
    values = np.log(case.measured.bandwidth_Bps[is_pair])
    real_ratio = max(0.0, 1 - case.noise**2 / values.var(ddof=1))
    step = np.zeros(case.true_Bps.shape)
    step[is_pair] = (1 - real_ratio) * (values.mean() - values)
    return case.judged(gain_under_noise, case.moved(step))


def groups(case: Case) -> Gain:
    return case.judged(expected_gain, case.measured)


def optimism(case: Case) -> Gain:
    lost = []
    for step in case.steps(NUM_PLACED_ANEW["optimism"]):
        drawn = case.moved(step)
        anew = case.placed(drawn)
        lost.append(case.gain(anew, drawn) - case.gain(anew, case.measured))
    return Gain(*(bound - np.mean(lost) for bound in dataclasses.astuple(as_measured(case))))


def halves(case: Case) -> Gain:
    gains = [
        case.gain(case.placed(case.moved(step)), case.moved(-step))
        for step in case.steps(NUM_PLACED_ANEW["halves"])
    ]
    center, half_width = float(np.mean(gains)), NORMAL_95 * float(np.std(gains, ddof=1))
    return Gain(center, center - half_width, center + half_width)


WAYS: dict[str, Callable[[Case], Gain]] = {
    "as measured": as_measured,
    "one mean": one_mean,
    "groups": groups,
    "optimism": optimism,
    "halves": halves,
}


def flat(num_hosts: int, _random: np.random.Generator) -> Matrix:
    return np.full((num_hosts, num_hosts), FAST_BPS)


def racks_in_order(num_hosts: int, _random: np.random.Generator) -> Matrix:
    return two_racks(np.arange(num_hosts) * 2 // num_hosts)


def racks_hidden(num_hosts: int, _random: np.random.Generator) -> Matrix:
    return two_racks(np.arange(num_hosts) % 2)


def pairwise(num_hosts: int, random: np.random.Generator) -> Matrix:
    return FAST_BPS * random.lognormal(0, 0.5, (num_hosts, num_hosts))


def faint(num_hosts: int, random: np.random.Generator) -> Matrix:
    return FAST_BPS * random.lognormal(0, 0.1, (num_hosts, num_hosts))


def two_racks(rack_of_host: npt.NDArray[np.int64]) -> Matrix:
    return np.where(rack_of_host[:, None] == rack_of_host, FAST_BPS, SLOW_BPS)


def cg_like(num_hosts: int) -> fl.Traffic:
    """Butterflies in rows of ranks, one row per host in the launcher's order, and a transpose."""
    rank = np.arange(num_hosts * SLOTS)
    row, column = np.divmod(rank, SLOTS)
    sent = np.zeros((rank.size, rank.size))
    for step in (1, 2):
        sent[rank, row * SLOTS + (column ^ step)] = 2e7
    sent[rank, column * num_hosts + row] += 1e7
    np.fill_diagonal(sent, 0)
    return fl.Traffic(bytes=sent, messages=np.sign(sent))


def ring(num_hosts: int) -> fl.Traffic:
    """All ranks of a host with one another, and less to both neighbours of the host."""
    sent = np.kron(np.eye(num_hosts), np.ones((SLOTS, SLOTS)) - np.eye(SLOTS)) * 1e8
    for host in range(num_hosts):
        for other in ((host - 1) % num_hosts, (host + 1) % num_hosts):
            sent[host * SLOTS, other * SLOTS] = 1e7
    return fl.Traffic(bytes=sent, messages=np.sign(sent))


NETWORKS = {
    ("flat", "cg-like"): (flat, cg_like),
    ("flat", "ring"): (flat, ring),
    ("racks in order", "ring"): (racks_in_order, ring),
    ("racks hidden", "ring"): (racks_hidden, ring),
    ("pairwise", "ring"): (pairwise, ring),
    ("pairwise", "cg-like"): (pairwise, cg_like),
    ("faint", "ring"): (faint, ring),
}


@dataclasses.dataclass(frozen=True)
class Measuring:
    """How the network is measured.

    Attributes:
        samples: Number of samples from which each interval is estimated; None: it is exact.
        shared_ratio: Part of the noise's variance that pairs share which are measured at the same
            time, and which no interval shows.
    """

    samples: int | None = None
    shared_ratio: float = 0.0

    def seen(self, noise: float) -> float:
        """The part of the noise that the intervals show."""
        return float(noise * np.sqrt(1 - self.shared_ratio))

    def measured(self, true_Bps: Matrix, noise: float, random: np.random.Generator) -> fl.Network:
        num_hosts = len(true_Bps)
        own = random.normal(0, self.seen(noise), true_Bps.shape)
        shared = random.normal(0, noise * np.sqrt(self.shared_ratio), num_hosts)
        found_Bps = true_Bps * np.exp(own + shared[round_of_pair(num_hosts)])
        spread = np.full(true_Bps.shape, self.seen(noise))
        if self.samples is not None:
            freedom = self.samples - 1
            spread = spread * np.sqrt(random.chisquare(freedom, spread.shape) / freedom)
        width = np.exp(NORMAL_95 * spread)
        np.fill_diagonal(found_Bps, np.inf)
        return fl.Network(
            hosts=[f"h{host}" for host in range(num_hosts)],
            latency_s=np.where(np.eye(num_hosts, dtype=bool), 0, LATENCY_S),
            bandwidth_Bps=found_Bps,
            bandwidth_low_Bps=found_Bps / width,
            bandwidth_high_Bps=found_Bps * width,
        )


def round_of_pair(num_hosts: int) -> npt.NDArray[np.int64]:
    """When each pair meets in a tournament by the circle method; an even number of hosts."""
    host = np.arange(num_hosts)
    rounds = (host[:, None] + host) % (num_hosts - 1)
    rounds[-1] = rounds[:, -1] = 2 * host % (num_hosts - 1)
    return rounds


MEASURINGS = {
    "exact intervals, independent noise": Measuring(),
    "intervals of 8 samples": Measuring(samples=8),
    "half of the variance shared by pairs measured together": Measuring(shared_ratio=0.5),
}


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a series of cases has in common."""

    names: tuple[str, str]
    noise: float
    measuring: Measuring
    num_hosts: int
    methods: list[str]
    objective: str
    num_cases: int

    def cases(self) -> Iterator[tuple[Case, float]]:
        """Each case with its true gain."""
        make_network, make_traffic = NETWORKS[self.names]
        traffic = make_traffic(self.num_hosts)
        noise = self.measuring.seen(self.noise)
        for method in self.methods:
            for seed in range(self.num_cases):
                random = np.random.default_rng([1, seed])
                true_Bps = make_network(self.num_hosts, random)
                found = self.measuring.measured(true_Bps, self.noise, random)
                case = Case(true_Bps, found, noise, traffic, method, self.objective, seed)
                exact_Bps = np.where(np.eye(self.num_hosts, dtype=bool), np.inf, true_Bps)
                exact = dataclasses.replace(found, bandwidth_Bps=exact_Bps)
                yield case, case.gain(case.chosen, exact)


@dataclasses.dataclass
class Tally:
    """What one way said of many cases."""

    cases: int = 0
    called: int = 0
    held: int = 0
    seconds: float = 0.0

    def add(self, gain: Gain, true_gain: float, seconds: float) -> None:
        self.cases += 1
        self.called += gain.low_ratio > NO_GAIN_RATIO
        low_ratio, high_ratio = gain.low_ratio - NO_GAIN_RATIO, gain.high_ratio + NO_GAIN_RATIO
        self.held += low_ratio <= true_gain <= high_ratio
        self.seconds += seconds

    def shown(self) -> str:
        """Percentage called beyond noise with its 95 % interval (Wilson 1927)."""
        found = scipy.stats.binomtest(self.called, self.cases).proportion_ci(method="wilson")
        return f"{self.called / self.cases:.0%} [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a case a row, one noise, cheap ways")
    parser.add_argument("--cases", type=int, default=40, help="per row and method")
    parser.add_argument("--hosts", type=int, default=8, help="an even number")
    parser.add_argument("--method", action="append", help="default: scotch-best and optimize")
    parser.add_argument("--objective", choices=OBJECTIVES, default=DEFAULT_OBJECTIVE)
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")
    options = parser.parse_args()
    num_cases = 1 if options.short else options.cases
    methods = options.method or (["scotch-best"] if options.short else ["scotch-best", "optimize"])
    ways = options.way or (["as measured", "groups"] if options.short else list(WAYS))
    console = Console(width=140)
    for title, measuring in MEASURINGS.items():
        how = f"{', '.join(methods)} by {options.objective}"
        table = Table(title=f"{options.hosts} hosts, {how}; {title}")
        for column in ("network", "traffic", "noise", "true gain", "cases", *ways):
            is_name = column in {"network", "traffic"}
            table.add_column(column, justify="left" if is_name else "right")
        in_all = {way: Tally() for way in ways}
        for names in NETWORKS:
            for noise in NOISES[1:2] if options.short else NOISES:
                setting = Setting(
                    names,
                    noise,
                    measuring,
                    options.hosts,
                    methods,
                    options.objective,
                    num_cases,
                )
                add_rows(table, setting, in_all)
            table.add_section()
        console.print(table)
        for way, tally in in_all.items():
            console.print(
                f"{way}: the interval held the true gain in {tally.held / tally.cases:.0%} of "
                f"{tally.cases} cases; judging one took {tally.seconds / tally.cases:.2f} s"
            )


def add_rows(table: Table, setting: Setting, in_all: dict[str, Tally]) -> None:
    """A row for the cases without a true gain, and one for those with enough of it."""
    tallies = {is_real: {way: Tally() for way in in_all} for is_real in (False, True)}
    gains: dict[bool, list[float]] = {False: [], True: []}
    for case, true_gain in setting.cases():
        if NO_GAIN_RATIO < true_gain < LEAST_GAIN_RATIO:
            continue
        is_real = true_gain > NO_GAIN_RATIO
        gains[is_real].append(true_gain)
        for way, tally in tallies[is_real].items():
            started_s = time.perf_counter()
            gain = WAYS[way](case)
            seconds = time.perf_counter() - started_s
            tally.add(gain, true_gain, seconds)
            in_all[way].add(gain, true_gain, seconds)
    for is_real, true_gains in gains.items():
        if true_gains:
            table.add_row(
                *setting.names,
                f"{setting.noise:.0%}",
                f"{np.mean(true_gains):.1%}" if is_real else "none",
                str(len(true_gains)),
                *(tally.shown() for tally in tallies[is_real].values()),
            )


if __name__ == "__main__":
    main()
