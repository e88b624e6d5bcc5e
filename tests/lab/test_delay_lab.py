# SPDX-License-Identifier: Apache-2.0
"""Delayed pairs in a lab: how long packets take, what rates remain, and what is left in the end.

Delays are tens of milliseconds and differ by as much, so that a busy machine, which adds some, does
not decide a test.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import lab_traces
import numpy as np
import pytest

from fairlead.lab import Lab, Scenario
from fairlead.lab.delaying import DelayBy
from fairlead.lab.state import live_labs

pytestmark = [pytest.mark.lab]

DELAYS = [
    {"src": "h0", "dst": "h1", "delay": "100ms"},
    {"src": "h1", "dst": "h0", "delay": "40ms"},
    {"src": "h0", "dst": "h2", "delay": "200ms"},
]
# Shortest time of a refused connection, in milliseconds: a packet there and one back.
CONNECT = """
import socket, sys, time
times = []
for _ in range(5):
    start_s = time.perf_counter()
    try:
        socket.create_connection((sys.argv[1], 22), 5)
    except ConnectionRefusedError:
        times.append(time.perf_counter() - start_s)
print(min(times) * 1e3)
"""


def cloud(num_hosts, **fields):
    return Scenario.model_validate(
        {"name": "delayed", "hosts": num_hosts, "nic": "200Mbit/s"} | fields
    )


@pytest.fixture(scope="module")
def lab():
    with Lab.up(cloud(3, latency={"pairs": {"given": DELAYS}})) as lab:
        yield lab


def test_packets_are_late_by_the_delay_of_their_direction(lab):
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0)]

    shortest_s = [min(times_s) for times_s in lab.ping(pairs, 20)]

    for wanted_s, seconds in zip((100e-3, 40e-3, 200e-3, 0), shortest_s, strict=True):
        assert wanted_s - 20e-6 <= seconds < wanted_s + 35e-3


def test_programs_on_the_hosts_see_both_ways_and_the_head_node_none(lab):
    def connect_ms(host, target):
        argv = [sys.executable, "-c", CONNECT, target]
        return float(lab.run(argv, host, capture_output=True, check=True).stdout)

    assert 140 <= connect_ms("h0", "h1") < 175
    assert 200 <= connect_ms("h2", "h0") < 235
    assert connect_ms("login", "h1") < 35
    assert connect_ms("h1", "h2") < 35


def test_delayed_pairs_and_uplinks_carry_what_they_are_shaped_to():
    scenario = cloud(
        4,
        pairs={"median": "40Mbit/s", "sigma": 0.7, "seed": 1},
        racks={"count": 2, "uplink": "50Mbit/s"},
        latency={"nic": "100us", "uplink": "400us"},
    )
    with Lab.up(scenario) as lab:
        measured_Bps, wrong = lab.check()
        shaped_Bps = lab.shaped_Bps()

    off = ~np.eye(4, dtype=bool)
    assert np.median(measured_Bps[off] / shaped_Bps[off]) == pytest.approx(1, abs=0.05)
    assert not [pair for pair in wrong if pair.measured_Bps > pair.shaped_Bps]


def received_bytes(lab, host):
    """Bytes that came in through the host's eth0."""
    argv = ["sed", "-n", "s/.*eth0: *//p", "/proc/net/dev"]
    return int(lab.run(argv, host, capture_output=True, check=True).stdout.split()[0])


def test_delayed_pairs_share_their_racks_uplink():
    scenario = cloud(
        4, racks={"count": 2, "uplink": "50Mbit/s"}, latency={"nic": "100us", "uplink": "400us"}
    )
    with Lab.up(scenario) as lab:
        rack = np.array(lab.topology().rack_of_host)
        sources, targets = np.flatnonzero(rack == 0).tolist(), np.flatnonzero(rack == 1).tolist()
        hosts = [lab.hosts[target] for target in targets]
        start_s = time.monotonic()
        before = sum(received_bytes(lab, host) for host in hosts)

        rates_Bps = lab.stream_Bps(list(zip(sources, targets, strict=True)), 0.1, 1.0)

        arrived = sum(received_bytes(lab, host) for host in hosts) - before
        elapsed_s = time.monotonic() - start_s

    assert min(rates_Bps) > 0
    # Both together get no more than one would alone, but for what the shaper's burst lets through.
    assert arrived < 1.02 * 6.25e6 * elapsed_s + 100_000


def test_a_pair_that_is_cut_stays_cut_when_it_is_delayed():
    with Lab.up(cloud(3, latency={"nic": "1ms"})) as lab:
        lab.degrade("h0", "h1", 0)
        lab.cut_host("h2")

        cut, alive, from_cut_host, to_cut_host = lab.ping([(0, 1), (1, 0), (2, 0), (0, 2)], 3)

        assert cut == from_cut_host == to_cut_host == []
        assert len(alive) == 3


def line_process(lab):
    """The delay line of a lab, as the world outside sees it."""
    assert lab.delay_by() is DelayBy.line
    holder = lab_traces.holder_pid(lab.hostfile.parent)
    (line,) = [
        int(pid)
        for pid in Path(f"/proc/{holder}/task/{holder}/children").read_text().split()
        if Path(f"/proc/{pid}/comm").read_text().startswith("fairlead-delay")
    ]
    return line


def test_down_leaves_no_delay_line_and_no_interface():
    links = lab_traces.link_names()
    with Lab.up(cloud(2, latency={"nic": "1ms", "by": "line"})) as lab:
        line = line_process(lab)
        namespaces = lab_traces.namespaces_of_lab(lab_traces.holder_pid(lab.hostfile.parent))

    assert not Path(f"/proc/{line}").exists()
    assert lab_traces.still_there(namespaces) == set()
    assert lab_traces.link_names() == links


@pytest.mark.parametrize("victim", ["holder", "delay line"])
def test_killed_holder_or_delay_line_ends_the_whole_lab(victim):
    with Lab.up(cloud(2, latency={"nic": "1ms", "by": "line"}), f"delay-{os.getpid()}") as lab:
        line = line_process(lab)
        holder = lab_traces.holder_pid(lab.hostfile.parent)
        namespaces = lab_traces.namespaces_of_lab(holder)

        os.kill(holder if victim == "holder" else line, signal.SIGKILL)

        assert lab_traces.happens(lambda: not lab_traces.still_there(namespaces))
        assert lab_traces.happens(lambda: lab.name not in live_labs())
    assert lab_traces.happens(lambda: not Path(f"/proc/{line}").exists())
