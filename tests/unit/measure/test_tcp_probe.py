# SPDX-License-Identifier: Apache-2.0
"""Programs on loopback measure each other over TCP, obey orders, and name what fails."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from fairlead.errors import LaunchError, ProbeError
from fairlead.measure.network_sources import Measuring, network_from, network_source
from fairlead.measure.one_machine import describe_one_machine
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.sampling import SampleDesign
from fairlead.measure.tcp import TcpProbes, join, listen, measure_pairs, rehearse_orders
from fairlead.measure.tcp.hosts_by_agent import start_program
from fairlead.measure.tcp.probes import tcp_probe_program
from fairlead.model.cluster import Cluster


@contextlib.contextmanager
def probes_of(*hosts: str) -> Iterator[TcpProbes]:
    """A program for each name, all on this machine."""
    words = [str(tcp_probe_program()), "--listen", "127.0.0.1"]
    members = [start_program(words, host, "127.0.0.1") for host in hosts]
    try:
        probes = TcpProbes(members)
        assert probes.greet(20) == {}
        yield probes
    finally:
        for member in members:
            member.end()


def test_all_pairs_have_latency_and_bandwidth_with_intervals() -> None:
    done: list[tuple[int, int]] = []
    with probes_of("a", "b", "c", "d") as probes:
        network = measure_pairs(probes, on_progress=lambda *count: done.append(count))

    assert network.hosts == ("a", "b", "c", "d")
    assert network.unmeasured_pairs() == []
    off = ~np.eye(4, dtype=bool)
    assert network.samples is not None and (network.samples[off] >= 12).all()
    assert network.bandwidth_low_Bps is not None and network.bandwidth_high_Bps is not None
    assert (network.bandwidth_low_Bps[off] <= network.bandwidth_Bps[off]).all()
    assert network.origin["by"] == "tcp"
    assert done[-1] == (6, 6)


def test_programs_on_one_host_are_one_machine_under_several_names() -> None:
    with probes_of("head", "alias") as probes:
        network = measure_pairs(probes)

    assert describe_one_machine(network) == [
        "hosts 'head' and 'alias' are one machine; name it once, with all its slots"
    ]


def test_sample_estimates_the_pairs_that_it_does_not_measure() -> None:
    with probes_of(*"abcdefghij") as probes:
        network = measure_pairs(probes, sample=SampleDesign(ratio=0.5))

    assert network.unmeasured_pairs() == []
    assert network.origin["sample"]["measured_pairs"] < network.origin["sample"]["all_pairs"]
    assert network.is_estimated().any()


def test_host_that_ends_costs_only_its_pairs() -> None:
    with probes_of("a", "b", "c") as probes:
        probes._members["b"].end()
        network = measure_pairs(probes, silence_timeout_s=2)

    missing = {frozenset(pair) for pair in network.unmeasured_pairs()}
    assert missing == {frozenset("ab"), frozenset("bc")}


def test_orders_take_turns_and_each_is_timed_in_every_round() -> None:
    ring = sp.csr_array(np.roll(np.eye(3), 1, axis=1) * 1e5)
    with probes_of("a", "b", "c") as probes:
        times_s = rehearse_orders(probes, [("a", "b", "c"), ("a", "c", "b")], ring, num_rounds=5)

    assert times_s.shape == (5, 2)
    assert (times_s > 0).all()


def test_program_that_does_not_start_is_reported_with_its_reason() -> None:
    good = start_program([str(tcp_probe_program()), "--listen", "127.0.0.1"], "a", "127.0.0.1")
    bad = start_program(["sh", "-c", "echo no such machine; exit 7"], "b", "127.0.0.1")
    try:
        probes = TcpProbes([good, bad])
        reasons = probes.greet(20)
    finally:
        good.end()

    assert list(reasons) == ["b"]
    assert probes.hosts == ("a",)


@pytest.mark.parametrize(
    "order",
    [
        "nonsense",
        "[]",
        '{"do": "dance"}',
        '{"do": "measure"}',
        '{"do": "key", "key": "short"}',
        '{"do": "run", "set": 5}',
        '{"do": "prepare", "set": 1, "flows": [[["127.0.0.1", 1], 5]], "silence_timeout_s": 1}',
        '{"do": "measure", "peer": ["localhost", 1], "target_ratio": 1, "max_samples": 1, '
        '"limit_s": 1, "silence_timeout_s": 1}',
    ],
)
def test_order_that_cannot_be_obeyed_is_answered_and_does_not_end_the_program(order: str) -> None:
    done = subprocess.run(
        [str(tcp_probe_program()), "--listen", "127.0.0.1"],
        input=f"{order}\nend\n", capture_output=True, text=True, check=True,
    )  # fmt: skip

    place, answer, end = (json.loads(line) for line in done.stdout.splitlines())
    assert place["port"] > 0
    assert answer["failed"]
    assert end == {"done": "end"}


def test_peer_without_the_key_is_sent_away() -> None:
    with probes_of("a") as probes:
        address, port = probes.place("a")
        with socket.create_connection((str(address), port), timeout=20) as stranger:
            # 32 characters, then a request for one echo of one byte.
            stranger.sendall(b"x" * 32 + (1).to_bytes(8, "big") * 3 + b"?")
            try:
                answer = stranger.recv(1)
            except ConnectionResetError:
                answer = b""

    assert answer == b""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_hosts_that_meet_measure_and_all_get_their_result() -> None:
    place = ("127.0.0.1", free_port())
    got: dict[str, object] = {}

    def joins(name: str) -> None:
        got[name] = join(place, f"{name}.cluster", 30)

    threads = [threading.Thread(target=joins, args=(name,)) for name in ("b", "c")]
    for thread in threads:
        thread.start()
    with listen(place, ["c", "a", "b"], "a", 30) as meeting:
        assert meeting.probes.greet(30) == {}
        network = measure_pairs(meeting.probes)
        meeting.conclude({name: {"you": name} for name in "abc"})
    for thread in threads:
        thread.join()

    assert network.hosts == ("c", "a", "b")
    assert network.unmeasured_pairs() == []
    assert got == {"b": {"you": "b"}, "c": {"you": "c"}}


def test_host_that_is_not_expected_is_refused_and_missing_ones_are_named() -> None:
    place = ("127.0.0.1", free_port())
    refused: list[str] = []

    def joins() -> None:
        with pytest.raises(LaunchError) as error:
            join(place, "stranger", 30)
        refused.append(str(error.value))

    thread = threading.Thread(target=joins)
    thread.start()
    with (
        pytest.raises(ProbeError, match=r"did not join within 3 s: b, c"),
        listen(place, ["a", "b", "c"], "a", 3),
    ):
        pass
    thread.join()

    assert len(refused) == 1
    assert "'stranger' is not one of the hosts" in refused[0] or "has ended" in refused[0]


def test_error_of_the_host_that_listens_reaches_the_others() -> None:
    place = ("127.0.0.1", free_port())
    said: list[str] = []

    def joins() -> None:
        with pytest.raises(LaunchError) as error:
            join(place, "b", 30)
        said.append(str(error.value))

    thread = threading.Thread(target=joins)
    thread.start()
    with (
        contextlib.suppress(ProbeError),
        listen(place, ["a", "b"], "a", 30) as meeting,
    ):
        assert meeting.probes.greet(30) == {}
        raise ProbeError("no pair could be measured")
    thread.join()

    assert said == [f"127.0.0.1:{place[1]}: no pair could be measured"]


def test_network_source_measures_over_tcp_and_looks_for_no_launcher() -> None:
    def program() -> ProbeProgram:
        raise AssertionError("a launcher was looked for")

    source = network_source("tcp:", Measuring(program))

    network = network_from(source, Cluster.uniform(["localhost"], slots=2))

    assert network.hosts == ("localhost",)
    assert (source.is_given, source.profile_path(Cluster.uniform(["a"], slots=1))) == (False, None)


def test_host_that_does_not_answer_is_named_by_the_source_or_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Names that mean no address of this machine, which the agent starts here all the same.
    agent = tmp_path / "agent"
    agent.write_text('#!/bin/sh\n[ "$1" = b ] && { echo closed >&2; exit 9; }\nexec sh -c "$2"\n')
    agent.chmod(0o755)
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", str(agent))
    monkeypatch.setattr(
        sys.modules["fairlead.measure.tcp.hosts_by_agent"],
        "addresses_for_all",
        lambda names: ["127.0.0.1"] * len(names),
    )
    cluster = Cluster.uniform(["a", "b", "c"], slots=1)

    with pytest.raises(ProbeError, match=r"host 'b' \(closed\)"):
        network_from(network_source("tcp:", Measuring(ProbeProgram)), cluster)
    network = network_from(
        network_source("tcp:", Measuring(ProbeProgram, skip_unreachable=True)), cluster
    )

    assert dict(network.unreachable) == {"b": "closed"}
    assert {frozenset(pair) for pair in network.unmeasured_pairs()} == {
        frozenset("ab"),
        frozenset("bc"),
    }
