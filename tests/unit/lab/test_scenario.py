# SPDX-License-Identifier: Apache-2.0
"""Scenario files: what they draw, and the one line that a wrong one gets."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from fairlead import lab
from fairlead.errors import InputError
from fairlead.lab import Scenario, packaged_scenarios
from fairlead.lab.topology import Topology, draw_pairs, draw_topology

GOOD = 'hosts = 4\nnic = "1Gbit/s"\n'


def load(tmp_path, text, **options):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return Scenario.load(path, **options)


@pytest.mark.parametrize(
    "name", ["flat", "two-racks", "two-zones", "pairwise", "drift", "flow-cap"]
)
def test_scenario_ships_and_opens_with_a_drawing(name):
    scenario = Scenario.load(name)

    assert (scenario.name, scenario.hosts, scenario.slots) == (name, 8, 4)
    assert name in packaged_scenarios()
    text = (Path(lab.__file__).parent / "scenarios" / f"{name}.toml").read_text()
    assert text.startswith("# ")
    assert "+--" in text.split("hosts =")[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD + "speed = {h9 = 0.5}\n", "speed: unknown host 'h9'"),
        (GOOD + "speed = {h1 = 2}\n", "speed.h1: "),
        (GOOD + "colour = 3\n", "colour: Extra inputs are not permitted, got 3"),
        (GOOD + "order_seed = -1\n", "order_seed: Input should be greater than or equal to 0"),
        (
            GOOD + '[pairs]\nmedian = "1Gbit/s"\nsigma = 0.5\nseed = -7\n',
            "pairs.seed: Input should",
        ),
        (GOOD + "[[changes]]\nat_s = 1\nseed = -7\n", "changes[0].seed: Input should be"),
        ('hosts = 4\nnic = "-3Mbit/s"\n', "nic: "),
        ('hosts = 4\nnic = "0bit/s"\n', "nic: a rate must be > 0"),
        ("hosts = 4\nnic = 1000\n", "nic: expected a rate as text"),
        ('hosts = 4\nnic = "1Gbyte/s"\n', "nic: "),
        (
            'hosts = 1\nnic = "1Gbit/s"\n',
            "hosts: Input should be greater than or equal to 2, got 1",
        ),
        ('hosts = 4\nnic = ["1Gbit/s"]\n', "nic: 1 rates for 4 hosts"),
        (
            GOOD + 'connection = "1Mbit/s"\npairs = {sigma = 0.5}\n',
            "connection: does not go together with pairs",
        ),
        (
            'hosts = 33\nnic = "1Gbit/s"\nconnection = "1Mbit/s"\n',
            "connection: at most 32 hosts, got 33",
        ),
        ("hosts = 4\n", "nic: Field required"),
        (GOOD + "slots = 0\n", "slots: Input should be greater than or equal to 1"),
        (GOOD + 'slots = "2"\n', "slots: Input should be a valid integer, got '2'"),
        (GOOD + "slots = true\n", "slots: Input should be a valid integer, got True"),
        (
            GOOD + "pairs = {sigma = '0.5'}\n",
            "pairs.sigma: Input should be a valid number, got '0.5'",
        ),
        (GOOD + 'racks = {count = 5, uplink = "1Mbit/s"}\n', "racks.count: 5 racks for 4 hosts"),
        (
            GOOD + 'racks = {count = 2, uplink = ["1Mbit/s"]}\n',
            "racks: uplink: 1 rates for 2 racks",
        ),
        (GOOD + "pairs = {sigma = -1.0}\n", "pairs.sigma: Input should be greater"),
        (
            GOOD + 'background = [{src = "h0", dst = "h9", rate = "1Mbit/s"}]\n',
            "background[0].dst: unknown host 'h9'; there are h0 to h3",
        ),
        (
            GOOD + 'pairs = {given = [{src = "h1", dst = "h1", rate = "1Mbit/s"}]}\n',
            "pairs.given[0]: src and dst are both 'h1'",
        ),
        (
            GOOD + 'changes = [{at_s = 1, src = "h0", dst = "h1", ratio = -0.5}]\n',
            "changes[0].ratio: Input should be greater than or equal to 0",
        ),
        (GOOD + 'changes = [{at_s = 1, src = "h0"}]\n', "changes[0]: needs either src"),
        (GOOD + "changes = [{at_s = 1, seed = 3}]\n", "changes[0].seed: there is no pairs.median"),
        (GOOD + 'latency = {nic = "-5us"}\n', "latency.nic: duration '-5us': expected a number"),
        (GOOD + 'latency = {nic = "nan us"}\n', "latency.nic: duration 'nan us': expected"),
        (GOOD + "latency = {nic = nan}\n", "latency.nic: expected a time as text"),
        (GOOD + 'latency = {nic = "2s"}\n', "latency.nic: a delay must be at most 1s, got '2s'"),
        (GOOD + "latency = {nic = 50}\n", "latency.nic: expected a time as text"),
        (
            GOOD + 'latency = {nic = "5us", by = "magic"}\n',
            "latency.by: Input should be 'netem' or",
        ),
        (GOOD + 'latency = {nics = "5us"}\n', "latency.nics: Extra inputs are not permitted"),
        (GOOD + 'latency = {nic = ["5us"]}\n', "latency.nic: 1 delays for 4 hosts"),
        (GOOD + 'latency = {uplink = "5us"}\n', "latency.uplink: there are no racks"),
        (
            GOOD + 'racks = {count = 2, uplink = "1Mbit/s"}\nlatency = {uplink = ["5us"]}\n',
            "latency.uplink: 1 delays for 2 racks",
        ),
        (GOOD + "latency = {pairs = {sigma = nan}}\n", "latency.pairs.sigma: Input should be"),
        (
            GOOD + 'latency = {pairs = {given = [{src = "h0", dst = "h4", delay = "1ms"}]}}\n',
            "latency.pairs.given[0].dst: unknown host 'h4'; there are h0 to h3",
        ),
        (
            GOOD + 'latency = {pairs = {given = [{src = "h0", dst = "h1", rate = "1ms"}]}}\n',
            "latency.pairs.given[0].delay: Field required",
        ),
        ("hosts = \n", "not a readable TOML file"),
    ],
)
def test_wrong_scenario_file_is_refused_by_file_and_field(tmp_path, text, problem):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)

    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'mine.toml'}: {problem}")
    assert "\n" not in message


def test_missing_scenario_is_refused_with_those_there_are():
    with pytest.raises(InputError, match="'no-such': neither a file nor one of drift, flat"):
        Scenario.load("no-such")


@pytest.mark.parametrize("name", ["a b/../c", "../a/b", ".lock"])
def test_lab_name_that_is_no_folder_of_its_own_is_refused(name):
    with pytest.raises(InputError, match=f"lab name '{name}': expected a letter"):
        lab.Lab.up("flat", name)


def test_host_count_replaces_the_files(tmp_path):
    assert load(tmp_path, GOOD, hosts=6).host_names == ("h0", "h1", "h2", "h3", "h4", "h5")


@pytest.mark.parametrize("name", ["drift", "two-zones"])
def test_scenario_survives_json(name):
    scenario = Scenario.load(name)

    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_two_racks_of_four_share_uplinks_in_hidden_order():
    topology = draw_topology(Scenario.load("two-racks"))

    racks = topology.rack_of_host
    shaped = topology.shaped_Bps()

    assert sorted(racks) == [0] * 4 + [1] * 4
    assert racks != sorted(racks)
    for src in range(8):
        for dst in range(8):
            expected = 125e6 if racks[src] == racks[dst] else 25e6
            assert shaped[src, dst] == (math.inf if src == dst else expected)


def test_shaped_rate_is_the_smallest_on_the_way(tmp_path):
    text = """
        hosts = 4
        nic = ["100MB/s", "80MB/s", "60MB/s", "40MB/s"]
        racks = {count = 4, uplink = ["90MB/s", "70MB/s", "50MB/s", "30MB/s"]}
        pairs = {given = [{src = "h0", dst = "h1", rate = "1MB/s"}]}
    """
    topology = draw_topology(load(tmp_path, text))

    shaped = topology.shaped_Bps()

    uplink = [topology.uplink_Bps[rack] for rack in topology.rack_of_host]
    for src in range(4):
        for dst in range(4):
            if src != dst:
                ends = [topology.nic_Bps[src], uplink[src], uplink[dst], topology.nic_Bps[dst]]
                assert shaped[src, dst] == (1e6 if (src, dst) == (0, 1) else min(ends))


def test_what_is_written_can_be_read_again(tmp_path):
    text = """
        hosts = 4
        nic = ["100MB/s", "80MB/s", "60MB/s", "40MB/s"]
        racks = {count = 2, uplink = ["90MB/s", "70MB/s"]}
        latency = {nic = ["1ms", "2ms", "3ms", "4ms"], uplink = "10ms"}
    """
    scenario = load(tmp_path, text)

    assert Scenario.model_validate(scenario.model_dump()) == scenario
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


def test_slower_scenario_has_all_rates_divided_and_nothing_else(tmp_path):
    text = """
        hosts = 4
        nic = {nic}
        racks = {{count = 2, uplink = ["{uplink}", "70MB/s"]}}
        pairs = {{median = "{median}", given = [{{src = "h0", dst = "h1", rate = "{given}"}}]}}
        latency = {{nic = "1ms"}}
        changes = [{{at_s = 1, src = "h0", dst = "h1", ratio = 0.5}}]
        background = [{{src = "h2", dst = "h3", rate = "{background}"}}]
    """
    names = ("nic", "uplink", "median", "given", "background")
    fast = dict(zip(names, ['"100MB/s"', "90MB/s", "40MB/s", "1MB/s", "8MB/s"], strict=True))
    slow = dict(zip(names, ['"25MB/s"', "22.5MB/s", "10MB/s", "250kB/s", "2MB/s"], strict=True))
    scenario = load(tmp_path, text.format(**fast))

    slower = scenario.slower(4.0)

    assert slower == load(tmp_path, text.format(**slow).replace("70MB/s", "17.5MB/s"))


def test_delay_is_the_sum_over_the_links_and_the_pair(tmp_path):
    text = """
        hosts = 4
        nic = "1Gbit/s"
        racks = {count = 2, uplink = "1Gbit/s"}
        [latency]
        nic = ["1ms", "2ms", "3ms", "4ms"]
        uplink = ["10ms", "20ms"]
        pairs = {given = [{src = "h0", dst = "h1", delay = "100ms"}]}
    """
    topology = draw_topology(load(tmp_path, text))

    rack = topology.rack_of_host
    for src in range(4):
        for dst in range(4):
            expected_ms = 0 if src == dst else 2 + src + dst
            expected_ms += 30 if rack[src] != rack[dst] else 0
            expected_ms += 100 if (src, dst) == (0, 1) else 0
            assert topology.delay_s[src, dst] == pytest.approx(expected_ms * 1e-3)


def test_drawn_delays_have_the_median_and_spread_asked_for_and_given_ones_replace_them(tmp_path):
    text = """
        hosts = 100
        nic = "1Gbit/s"
        [latency.pairs]
        median = "200us"
        sigma = 0.4
        asymmetry = 0
        given = [{src = "h3", dst = "h1", delay = "7us"}]
    """
    delay_s = draw_topology(load(tmp_path, text)).delay_s

    off = ~np.eye(100, dtype=bool)
    assert np.median(delay_s[off]) == pytest.approx(200e-6, rel=0.03)
    assert np.std(np.log(delay_s[off])) == pytest.approx(0.4, rel=0.05)
    assert delay_s[3, 1] == 7e-6
    delay_s[3, 1] = delay_s[1, 3]
    assert np.array_equal(delay_s, delay_s.T)
    assert not delay_s.diagonal().any()


def test_scenario_without_latency_has_no_delays():
    assert draw_topology(Scenario.load("drift")).delayed_pairs() == []


def test_topology_survives_json():
    topology = draw_topology(Scenario.load("two-zones"))

    again = Topology.from_json(json.loads(json.dumps(topology.to_json())))

    assert np.array_equal(again.delay_s, topology.delay_s)
    assert np.array_equal(again.shaped_Bps(), topology.shaped_Bps())


@pytest.mark.parametrize("asymmetry", [0.0, 0.5, 1.0])
def test_drawn_pairs_have_median_spread_and_asymmetry_asked_for(asymmetry):
    pairs = Scenario.load("pairwise").pairs.model_copy(update={"asymmetry": asymmetry})

    rates = draw_pairs(pairs, 200, seed=1)

    off = ~np.eye(200, dtype=bool)
    logs = np.log(rates / pairs.median)
    assert np.median(logs[off]) == pytest.approx(0, abs=0.03)
    assert np.std(logs[off]) == pytest.approx(pairs.sigma, rel=0.03)
    # Both directions share the part 1 - asymmetry of the variance: that is their correlation.
    correlation = np.corrcoef(logs[np.triu(off)], logs.T[np.triu(off)])[0, 1]
    assert correlation == pytest.approx(1 - asymmetry, abs=0.03)


def test_same_seed_draws_the_same_and_another_seed_another():
    pairs = Scenario.load("pairwise").pairs

    assert np.array_equal(draw_pairs(pairs, 8, seed=1), draw_pairs(pairs, 8, seed=1))
    assert not np.array_equal(draw_pairs(pairs, 8, seed=1), draw_pairs(pairs, 8, seed=2))
