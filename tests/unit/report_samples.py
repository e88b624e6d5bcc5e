# SPDX-License-Identifier: Apache-2.0
"""A small run to look at: two racks, a ring of ranks, three methods."""

from __future__ import annotations

import datetime

import numpy as np
import scipy.sparse as sp

import fairlead as fl
from fairlead.decide.jobs import SharedHosts, map_jobs
from fairlead.flows.compare.comparison import Comparison, MethodRuns, PredictedCost


def two_racks(hosts):
    """Odd and even hosts are racks: 50 µs and 100 MB/s inside, 200 µs and 20 MB/s between."""
    rack = np.arange(len(hosts)) % 2
    is_near = rack[:, None] == rack[None]
    latency_s = np.where(is_near, 50e-6, 200e-6)
    bandwidth_bps = np.where(is_near, 100e6, 20e6)
    np.fill_diagonal(latency_s, 0)
    np.fill_diagonal(bandwidth_bps, np.inf)
    return fl.Network(
        hosts,
        latency_s,
        bandwidth_bps,
        *(latency_s * 0.9, latency_s * 1.1, bandwidth_bps * 0.9, bandwidth_bps * 1.1),
        origin={"how": "measured", "when": "2024-01-31T12:00:00+00:00"},
    )


def ring(num_ranks, megabytes=5.0):
    """Each rank sends its successor `megabytes` in ten messages."""
    ranks = np.arange(num_ranks)
    successor = (ranks, (ranks + 1) % num_ranks)
    shape = (num_ranks, num_ranks)
    sent = sp.csr_array((np.full(num_ranks, megabytes * 1e6), successor), shape=shape)
    return fl.Traffic(
        sent,
        sp.csr_array((np.full(num_ranks, 10), successor), shape=shape),
        sent / 10,
        collectives=[("allreduce", num_ranks, 8, 40 * num_ranks, 0.25)],
        run_time_s=1.5,
        origin={"program": ["./ring"]},
    )


def runs(hosts, host_of_rank, times_s, comm_time_s):
    predicted = PredictedCost(
        inter_bytes=2e6,
        intra_bytes=1e6,
        comm_time_s=comm_time_s,
        serial_time_s=comm_time_s,
        bottleneck_s=comm_time_s,
        bottleneck_and_mean_s=None,
    )
    return MethodRuns(
        hosts=tuple(hosts),
        host_of_rank=tuple(int(host) for host in host_of_rank),
        times_s=tuple(times_s),
        predicted=predicted,
        mapping_s=0.004,
    )


def comparison(hosts, num_ranks=8, program="./ring", **changes):
    """launcher 6 s, cyclic 12 s, scotch 3 s, each with a little noise."""
    ranks = np.arange(num_ranks)
    per_host = -(-num_ranks // len(hosts))
    noise = np.array([0.98, 1.0, 1.02, 0.99, 1.01])
    methods = {
        "launcher": runs(hosts, ranks // per_host, 6 * noise, 2.0),
        "cyclic": runs(hosts, ranks % len(hosts), 12 * noise[::-1], 4.0),
        "scotch": runs(hosts, ranks[::-1] // per_host, 3 * noise, 1.0),
    }
    fields = {
        "methods": methods,
        "program": (program, "--size", "9"),
        "num_ranks": num_ranks,
        "repeats": 5,
        "hosts": tuple(hosts),
        "mpi": "openmpi 4.1.4",
        "when": datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.timezone.utc),
        "probe_s": 0.7,
        "trace_s": 6.2,
    }
    return Comparison(**{**fields, **changes})


def save_run(folder, hosts, num_ranks=8, program="./ring"):
    """Write a whole run folder."""
    compared = comparison(hosts, num_ranks, program)
    two_racks(hosts).save(folder / "network.net.npz")
    ring(num_ranks).save(folder / "traffic.traffic.npz")
    compared.save(folder / "comparison.json")
    compared.placement("scotch").save(folder / "placement.json")
    return folder


def save_jobs(folder):
    """Write the record of a ring of four ranks and an exchange of six, two slots taken."""
    jobs = [
        fl.Job.from_traffic(fl.Traffic(sends * 1e6, sends * 10), 1.0, name)
        for name, sends in (("ring", np.roll(np.eye(4), 1, axis=1)), ("all", 1 - np.eye(6)))
    ]
    cluster = fl.Cluster.uniform(["h0", "h1", "h2"], 4)
    map_jobs(jobs, SharedHosts.of(cluster, {"h0": [0, 1]}), "cyclic").save(folder)
    return folder
