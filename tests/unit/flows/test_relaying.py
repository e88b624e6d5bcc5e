# SPDX-License-Identifier: Apache-2.0
"""Relays start only where there is a path around some pair, and the expected effect is printed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from narrators import RecordingNarrator

from fairlead.decide.host_paths import faster_pairs, path_table
from fairlead.flows.run.relays import relay_traffic_line, useful_paths
from fairlead.model.network import Network
from fairlead.watch.relay_traffic import RelayTraffic


def network(rates: list[list[float]]) -> Network:
    bandwidth_Bps = np.array(rates)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    latency_s = np.where(np.eye(len(rates)), 0.0, 1e-4)
    return Network(tuple("abc"[: len(rates)]), latency_s, bandwidth_Bps)


def test_the_number_of_pairs_that_gain_is_reported() -> None:
    narrator = RecordingNarrator()

    table = useful_paths(network([[0, 1e7, 1e8], [1e8, 0, 1e8], [1e8, 1e8, 0]]), "trials", narrator)

    assert table is not None
    assert narrator.lines == ["relays: expected to be faster on 1 of 6 pairs of hosts"]


def test_between_two_hosts_only_several_connections_can_help() -> None:
    two = network([[0, 1e7], [1e8, 0]])
    narrator = RecordingNarrator()

    assert useful_paths(two, "mcm", narrator) is None
    table = useful_paths(two, "trials", narrator)

    assert table is not None and len(table.paths) == 2
    lack = "no pair of hosts has a useful path by a third one"
    assert narrator.lines == [
        f"no message is relayed: {lack}",
        f"relays: {lack}; several connections are tried",
    ]


def test_pairs_that_were_not_measured_are_the_reason() -> None:
    narrator = RecordingNarrator()

    assert useful_paths(network([[0, np.nan], [1e8, 0]]), "trials", narrator) is None
    assert narrator.lines[0].startswith("no message is relayed: ")


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (RelayTraffic({}, {}), "relays: no messages of at least 64 KiB went between hosts"),
        (
            RelayTraffic({(0, 1): 2**20}, {}),
            "relays: the MPI carried all 1 MiB in messages of at least 64 KiB",
        ),
        (
            RelayTraffic({(0, 1): 2**20}, {(0, 1): 2**20}),
            "relays: routers carried 1 MiB of 2 MiB in messages of at least 64 KiB",
        ),
        (
            RelayTraffic({}, {(0, 1): 2**20, (0, 2, 1): 2**21, (1, 2, 0): 2**20}),
            "relays: routers carried 4 MiB of 4 MiB in messages of at least 64 KiB, 3 MiB of it by "
            "third hosts, most by a → c → b",
        ),
    ],
)
def test_what_carried_the_messages_is_reported(found: RelayTraffic, line: str) -> None:
    assert relay_traffic_line(found, "abc", 65536) == line


def probed_quickly(bandwidth_Bps: np.ndarray, sigma: float) -> Network:
    """As a probe of few samples sees the rates."""
    num_hosts = len(bandwidth_Bps)
    noise = np.random.default_rng(3).lognormal(0, sigma, bandwidth_Bps.shape)
    seen_Bps = np.where(np.eye(num_hosts), np.inf, bandwidth_Bps * noise)
    latency_s = np.where(np.eye(num_hosts), 0.0, 1e-4)
    return dataclasses.replace(
        Network(tuple("abcdefgh"), latency_s, seen_Bps),
        bandwidth_low_Bps=seen_Bps * np.exp(-1.96 * sigma),
        bandwidth_high_Bps=seen_Bps * np.exp(1.96 * sigma),
    )


def test_noise_of_an_even_network_is_no_reason_for_relays() -> None:
    even = probed_quickly(np.full((8, 8), 1e8), 0.25)

    table = useful_paths(even, "trials", RecordingNarrator())

    assert len(faster_pairs(path_table(even))) > 20
    assert table is not None
    assert faster_pairs(table) == []


def test_a_slow_pair_of_a_noisy_network_is_one() -> None:
    rates_Bps = np.full((8, 8), 1e8)
    rates_Bps[2, 5] = 1e7

    table = useful_paths(probed_quickly(rates_Bps, 0.25), "trials", RecordingNarrator())

    assert table is not None
    assert faster_pairs(table) == [(2, 5)]
