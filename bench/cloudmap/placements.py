# SPDX-License-Identifier: Apache-2.0
"""What follows from traffic and placements alone: CloudMap figures 4 and 15, table I.

And the gains that equation 4 predicts for the recordings that come with Fairlead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import mechanisms
import numpy as np
import traces
from clouds import A7, A8, G5, Cloud
from gains import figure
from mechanisms import OURS, PUBLISHED
from npb_programs import CLASSES, PROGRAMS

import fairlead as fl
from fairlead.lab import Scenario
from fairlead.lab.topology import draw_topology
from fairlead.simulation.recordings import load_recording, recording_names

Figures = list[dict[str, object]]
RANDOM_SEEDS = 10
SHORT_PROGRAMS = ("cg", "ep")
LATENCY_S = 50e-6  # The lab's links, as `fairlead probe` measures them; all pairs alike.


def figure_4(short: bool) -> Figures:
    """The number of messages between pairs of 64 tasks of bt and ft, class B."""
    rows = []
    for program, counted, said in (
        ("bt", "messages", {1: "large", 8: "large"}),
        ("ft", "exchange_messages", {}),
    ):
        traffic = traces.traffic(f"{program}.B.64")
        # ft has no messages but those inside its alltoall, one for each pair and call.
        matrix = getattr(traffic, counted).toarray()
        above = np.triu_indices(len(matrix), 1)
        of_pairs = (matrix + matrix.T)[above]
        apart = above[1] - above[0]
        how = "heterogeneous" if program == "bt" else "homogeneous"
        rows += [
            figure(f"{program}, pairs that communicate", "%", [100 * np.mean(of_pairs > 0)], how),
            figure(
                f"{program}, sd / mean over pairs", "ratio", [of_pairs.std() / of_pairs.mean()], how
            ),
        ]
        for distance in (1, 7, 8, 9):
            share = 100 * of_pairs[apart == distance].sum() / of_pairs.sum()
            name = f"{program}, messages between tasks {distance} apart"
            rows.append(figure(name, "%", [share], said.get(distance)))
    for program in SHORT_PROGRAMS if short else PROGRAMS:
        if program in {"bt", "ft"}:
            continue
        matrix = traces.traffic(f"{program}.B.64").messages.toarray()
        share = np.mean((matrix + matrix.T)[np.triu_indices(len(matrix), 1)] > 0)
        # Without messages point to point the matrix is empty.
        said = None if share == 0 else "the majority: heterogeneous"
        rows.append(figure(f"{program}, pairs that communicate", "%", [100 * share], said))
    return rows


def figure_15(short: bool) -> Figures:
    """Equations 2 and 4 of each mechanism's placements, relative to the mean of Random's."""
    cloud = Cloud(A7, 8)
    network = cloud.at(0)
    rows: Figures = []
    ratios = []
    for npb_class in CLASSES[:1] if short else CLASSES:
        for program in SHORT_PROGRAMS if short else PROGRAMS:
            name = f"{program}.{npb_class}.64"
            sent = traces.traffic(name)
            if sent.bytes.sum() == 0:
                continue  # ep and ft send nothing point to point.
            random = [costs("Random", name, network, seed) for seed in range(RANDOM_SEEDS)]
            before = np.mean(random, axis=0)
            for mechanism in (*(one for one in PUBLISHED if one != "Random"), *OURS):
                ratio = costs(mechanism, name, network, 0) / before
                ratios.append(ratio)
                for what, value in zip(("inter, eq. 2", "time, eq. 4"), ratio, strict=True):
                    title = f"{program}-{npb_class}, {mechanism}, {what}"
                    rows.append(figure(title, "x Random", [float(value)], None))
    correlation = float(np.corrcoef(np.array(ratios).T)[0, 1])
    said = "very good correlation"
    return [*rows, figure("correlation of eq. 2 and eq. 4", "Pearson", [correlation], said)]


def costs(mechanism: str, name: str, network: fl.Network, seed: int) -> np.ndarray:
    """Inter (eq. 2) and CommTime (eq. 4): of messages point to point alone, as section IV-B."""
    sent = traces.traffic(name)
    alone = fl.Traffic(sent.bytes, sent.messages)
    placement = mechanisms.place(mechanism, name, network, A7.cores, seed)
    cost = fl.evaluate(placement, alone, network)
    return np.array([cost.inter_bytes, cost.comm_time_s])


def table_1(short: bool) -> Figures:
    """The instances that are simulated, read back from the networks that are replayed on."""
    del short
    rows: Figures = []
    for instance, sizes, gbit in ((A7, (8, 32), 2), (A8, (32,), 10), (G5, (8,), 8)):
        for num_hosts in sizes:
            cloud = Cloud(instance, num_hosts)
            nic_Bps = cloud.at(0).nic_out_Bps
            assert nic_Bps is not None, "these clouds have interfaces"
            name, cores = f"{instance.name}, {num_hosts} instances", instance.cores
            tasks, paper_cores = cloud.cluster.num_slots, 32 if instance is G5 else 8
            rows += [
                figure(f"{name}, tasks", "tasks", [tasks], num_hosts * paper_cores),
                figure(f"{name}, cores", "cores", [cores], paper_cores),
                figure(f"{name}, network", "Gbit/s", [8 * float(nic_Bps[0]) / 1e9], gbit),
            ]
    return rows


@dataclasses.dataclass(frozen=True)
class Even:
    """Time of eq. 4 against both baselines, of one recording on one cloud."""

    network: fl.Network
    cluster: fl.Cluster
    traffic: fl.Traffic

    def time_s(self, method: str) -> float:
        placement = fl.place(
            self.traffic, self.network, self.cluster, method, objective="sum", seed=0
        )
        return fl.evaluate(placement, self.traffic, self.network).comm_time_s


def both_baselines(short: bool) -> Figures:
    """The recordings that come with Fairlead, on the lab's clouds: gains against both baselines."""
    names = ["cg.C.32", "mg.C.32"] if short else recording_names()
    rows: Figures = []
    for scenario in ["two-racks"] if short else ["two-racks", "pairwise", "flat"]:
        network = shaped_network(scenario)
        for name in names:
            traffic = load_recording(name).traffic
            if traffic.total.bytes.sum():
                rows += against_both(f"{scenario}, {name}", network, traffic)
    return rows


def against_both(title: str, network: fl.Network, traffic: fl.Traffic) -> Figures:
    case = Even(network, fl.Cluster.uniform(network.hosts, slots=4), traffic)
    methods: Sequence[str] = ("scotch", "scotch-best", "optimize")
    times_s = {method: case.time_s(method) for method in ("cyclic", "blocked", *methods)}
    rows = []
    for method in methods:
        for baseline in ("cyclic", "blocked"):
            gain = times_s[baseline] / times_s[method]
            rows.append(figure(f"{title}, {method}", f"x {baseline} by eq. 4", [gain], None))
    return rows


def shaped_network(scenario: str) -> fl.Network:
    """The network that a perfect probe of a scenario would find."""
    topology = draw_topology(Scenario.load(scenario))
    latency_s = np.full((topology.num_hosts, topology.num_hosts), LATENCY_S)
    np.fill_diagonal(latency_s, 0)
    return fl.Network(topology.hosts, latency_s, topology.shaped_Bps())
