# SPDX-License-Identifier: Apache-2.0
"""A declared topology against a measured network: who is not where the declaration puts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import fairlead as fl
from fairlead.errors import TopologyError
from fairlead.measure.topologies.switch_tree import tree_topology
from fairlead.model.topology import Topology
from fairlead.report import declared_view
from fairlead.watch.declared_distances import FALSE_ALARM_RATIO, hold_against


def declared(rack_of_host: Sequence[int], per_pod: int = 99) -> Topology:
    switches = {
        f"h{host}": ["core", f"pod{rack // per_pod}", f"rack{rack}"]
        for host, rack in enumerate(rack_of_host)
    }
    return tree_topology(switches, {"how": "test"}, "declared")


def measured(
    rack_of_host: Sequence[int], ratio: float = 3.0, spread: float = 0.1, seed: int = 0
) -> fl.Network:
    rng = np.random.default_rng(seed)
    rack = np.array(rack_of_host)
    noise = np.exp(rng.normal(0, spread, (2, len(rack), len(rack))))
    far = np.where(rack[:, None] == rack, 1.0, ratio)
    latency_s, bandwidth_Bps = 5e-5 * far * noise[0], 1e9 / far * noise[1]
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    return fl.Network([f"h{host}" for host in range(len(rack))], latency_s, bandwidth_Bps)


def test_a_network_that_is_as_declared_names_nobody_and_fits() -> None:
    found = hold_against(measured([0] * 8 + [1] * 8), declared([0] * 8 + [1] * 8))

    assert found.misplaced == ()
    assert [(each.hops, each.num_pairs) for each in found.classes] == [(2, 56), (4, 64)]
    assert found.classes[1].latency_s == pytest.approx(1.5e-4, rel=0.1)
    assert all(fit.correlation > 0.8 and fit.chance < 0.01 for fit in found.fits.values())


def test_hosts_that_were_swapped_are_named_and_no_others() -> None:
    # Hosts 1 and 5 stand in one another's racks.
    found = hold_against(measured([0, 1, 0, 0, 1, 0, 1, 1]), declared([0, 0, 0, 0, 1, 1, 1, 1]))

    assert {each.host for each in found.misplaced} == {"h1", "h5"}
    first = found.misplaced[0]
    assert (first.hops, first.like_hops) in [(2, 4), (4, 2)]
    assert all(0 <= each.chance < FALSE_ALARM_RATIO for each in found.misplaced)


def test_a_single_pair_is_named_as_a_pair() -> None:
    network = measured([0] * 8 + [1] * 8, spread=0.02)
    latency_s, bandwidth_Bps = network.latency_s.copy(), network.bandwidth_Bps.copy()
    latency_s[2, 3] = latency_s[3, 2] = 1.5e-4
    bandwidth_Bps[2, 3] = bandwidth_Bps[3, 2] = 3e8
    slow = fl.Network(network.hosts, latency_s, bandwidth_Bps)

    found = hold_against(slow, declared([0] * 8 + [1] * 8))

    assert [(each.host, each.peers) for each in found.misplaced] == [("h2", ("h3",))]


def test_noise_names_somebody_as_seldom_as_is_said() -> None:
    racks = [0] * 4 + [1] * 4 + [2] * 4
    alarms = sum(
        bool(hold_against(measured(racks, 2.0, 0.3, seed), declared(racks)).misplaced)
        for seed in range(30)
    )
    assert alarms <= 1  # 0.3 are allowed on average; two would have a probability of 4 %


def test_a_declaration_of_nothing_does_not_fit_and_names_nobody() -> None:
    rng = np.random.default_rng(3)
    found = hold_against(measured([0] * 12, spread=0.3), declared(rng.permutation(12) % 3))

    assert found.misplaced == ()
    assert all(fit.chance > 0.01 for fit in found.fits.values())


def test_a_flat_declaration_leaves_nothing_to_compare() -> None:
    found = hold_against(measured([0] * 6), declared([0] * 6))

    assert found.fits == {}
    assert any("nothing to compare" in line for line in declared_view.lines(found))


def test_names_match_without_their_domain_and_others_are_listed() -> None:
    network = measured([0] * 3 + [1] * 3)
    network = fl.Network(
        [*(f"h{host}.site.org" for host in range(5)), "login"],
        network.latency_s,
        network.bandwidth_Bps,
    )
    found = hold_against(network, declared([0] * 3 + [1] * 3))

    assert found.missing == ("login",)
    assert len(found.hosts) == 5


def test_too_few_common_hosts_are_refused() -> None:
    with pytest.raises(TopologyError, match="has 3 of the 3 hosts of this network; at least 4"):
        hold_against(measured([0, 0, 1]), declared([0, 0, 1]))


def test_a_finding_is_one_sentence_with_its_probability() -> None:
    found = hold_against(measured([1, 0, 0, 0, 0, 1, 1, 1, 1]), declared([0] * 5 + [1] * 4))

    said = [line for line in declared_view.lines(found) if line.startswith("h0 is declared")]
    assert len(said) == 1
    assert " by chance with probability " in said[0]
    assert declared_view.facts(found)["misplaced"][0]["host"] == "h0"
