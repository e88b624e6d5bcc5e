# SPDX-License-Identifier: Apache-2.0
"""Which hosts to use: against brute force on small cases, and refusals of what cannot be used."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from instances import network, random_network, random_traffic

import fairlead as fl
from fairlead.decide.hosts import advise, parse_prices
from fairlead.decide.hosts.advise import ENOUGH_RATIO
from fairlead.decide.hosts.trials import Question, Trials
from fairlead.errors import InputError, TopologyError


def cluster(num_hosts: int, slots: int = 2) -> fl.Cluster:
    return fl.Cluster.uniform([f"h{host}" for host in range(num_hosts)], slots)


def timed(traffic: fl.Traffic, run_time_s: float = 100.0) -> fl.Traffic:
    return dataclasses.replace(traffic, run_time_s=run_time_s)


def one_slow(num_hosts: int = 6, ratio: float = 0.1) -> fl.Network:
    """h1 sends and receives at `ratio` of the others' 100 MB/s, measured to a percent."""
    bandwidth_Bps = np.full((num_hosts, num_hosts), 1e8)
    bandwidth_Bps[1, :] *= ratio
    bandwidth_Bps[:, 1] *= ratio
    plain = network(bandwidth_Bps)
    return dataclasses.replace(
        plain,
        bandwidth_low_Bps=plain.bandwidth_Bps * 0.99,
        bandwidth_high_Bps=plain.bandwidth_Bps * 1.01,
    )


def ring(num_ranks: int, megabytes: float = 100.0) -> fl.Traffic:
    """Each rank sends its successor; 100 MB take a second over a healthy pair."""
    sent = np.roll(np.eye(num_ranks), 1, axis=1)
    return fl.Traffic(sent * megabytes * 1e6, sent, run_time_s=100.0)


def predicted_s(hosts: tuple[str, ...], traffic: fl.Traffic, measured: fl.Network) -> float:
    """Run time on these hosts, worked out from the definition."""
    placed = {
        name: fl.place(traffic, measured, fl.Cluster.uniform(chosen, 2), name)
        for name, chosen in (("launcher", measured.hosts), ("scotch-best", hosts))
    }
    cost = {name: fl.evaluate(one, traffic, measured) for name, one in placed.items()}
    return traffic.run_time_s - cost["launcher"].bottleneck_s + cost["scotch-best"].bottleneck_s


def test_every_set_of_few_hosts_is_tried() -> None:
    rng = np.random.default_rng(3)
    measured, traffic = random_network(5, rng), timed(random_traffic(6, rng))

    advice = advise(measured, traffic, cluster(5)).hosts

    assert advice is not None
    assert [len(choice.hosts) for choice in advice.best_of_size] == [3, 4, 5]
    for choice in advice.best_of_size:
        sets = itertools.combinations(measured.hosts, len(choice.hosts))
        best_s = min(predicted_s(hosts, traffic, measured) for hosts in sets)
        assert choice.time_s == pytest.approx(best_s)
        assert predicted_s(choice.hosts, traffic, measured) == pytest.approx(best_s)
    fastest_s = min(choice.time_s for choice in advice.best_of_size)
    close = [c for c in advice.best_of_size if c.time_s <= fastest_s * (1 + ENOUGH_RATIO)]
    assert advice.enough is close[0]


def tried_sets(trials: Trials) -> set[frozenset[str]]:
    trials.search()
    return {frozenset(one.hosts) for one in trials.predictions()}


def test_many_hosts_are_left_out_one_by_one() -> None:
    question = Question(ring(8), one_slow(6), cluster(6))

    tried = tried_sets(Trials(question, most_sets=1))

    # All, each one left out, and h1 with each of the others left out; 8 ranks need 4 hosts.
    hosts = frozenset(cluster(6).hosts)
    without_h1 = hosts - {"h1"}
    smaller = [without_h1 - {host} for host in without_h1]
    assert tried == {hosts, *(hosts - {host} for host in hosts), *smaller}


def test_each_step_of_leaving_out_is_reported() -> None:
    steps = []

    Trials(Question(ring(8), one_slow(6), cluster(6)), most_sets=1).search(
        lambda *step: steps.append(step)
    )

    assert steps == [(1, 6), (2, 6), (3, 6)]


def test_only_the_slowest_and_the_dearest_are_candidates() -> None:
    prices = dict.fromkeys(cluster(6).hosts, 1.0) | {"h4": 5.0}
    question = Question(ring(10), one_slow(6), cluster(6), prices=prices)

    tried = tried_sets(Trials(question, most_sets=1, most_candidates=1))

    hosts = frozenset(cluster(6).hosts)
    assert tried == {hosts, hosts - {"h1"}, hosts - {"h4"}}


def test_leaving_a_bad_host_out_helps_where_it_would_be_used() -> None:
    # Blocked fills h1, over which two hops of the ring go; without it all take a second.
    advice = advise(one_slow(6), ring(10), cluster(6), method="blocked")

    assert [bad.host for bad in advice.bad_hosts] == ["h1"]
    assert advice.hosts is not None
    found = advice.hosts.leaving_out
    assert found is not None and found.host_set is not None and found.bottleneck_gain is not None
    assert found.helps
    assert found.num_ranks == 2
    assert found.host_set.hosts == ("h0", "h2", "h3", "h4", "h5")
    assert found.bottleneck_gain.ratio == pytest.approx(0.9, abs=0.01)


def test_leaving_a_bad_host_out_does_not_help_where_nothing_goes_there() -> None:
    advice = advise(one_slow(6), ring(2), cluster(6), method="blocked")

    assert advice.hosts is not None and advice.hosts.leaving_out is not None
    assert not advice.hosts.leaving_out.helps
    assert advice.hosts.leaving_out.num_ranks == 0


def test_bad_hosts_whose_slots_are_needed_stay() -> None:
    advice = advise(one_slow(6), ring(12), cluster(6))

    assert advice.hosts is not None and advice.hosts.leaving_out is not None
    assert advice.hosts.leaving_out.host_set is None
    assert advice.hosts.leaving_out.missing_slots == 2
    assert [choice.hosts for choice in advice.hosts.best_of_size] == [cluster(6).hosts]


def test_fewer_hosts_are_enough_when_the_difference_is_noise() -> None:
    # Two hosts are slower by a fifth of the whole time, but the rates are uncertain by a factor.
    rng = np.random.default_rng(0)
    traffic = timed(random_traffic(4, rng), run_time_s=1e-3)
    exact = random_network(4, rng)
    unsure = dataclasses.replace(
        exact,
        bandwidth_low_Bps=exact.bandwidth_Bps / 50,
        bandwidth_high_Bps=exact.bandwidth_Bps * 50,
        latency_low_s=exact.latency_s / 50,
        latency_high_s=exact.latency_s * 50,
    )

    surely, hardly = (advise(one, traffic, cluster(4, 1 + 1)).hosts for one in (exact, unsure))

    assert surely is not None and hardly is not None
    assert len(hardly.enough.hosts) <= len(surely.enough.hosts)
    assert hardly.enough is hardly.best_of_size[0]


def test_without_a_run_time_communication_decides() -> None:
    traffic = dataclasses.replace(ring(8), run_time_s=math.nan)
    advice = advise(one_slow(6), traffic, cluster(6)).hosts

    assert advice is not None
    assert math.isnan(advice.rest_s)
    assert all(math.isnan(choice.time_s) for choice in advice.best_of_size)
    best = min(choice.cost.bottleneck_s for choice in advice.best_of_size)
    assert advice.enough.cost.bottleneck_s <= best * (1 + ENOUGH_RATIO)


def test_a_run_shorter_than_its_transfers_leaves_no_rest() -> None:
    advice = advise(one_slow(6), timed(ring(8), 1e-6), cluster(6)).hosts
    assert advice is not None
    assert advice.rest_s == 0


def test_the_cheapest_hosts_for_a_wanted_time_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(5)
    measured, traffic = random_network(5, rng), timed(random_traffic(6, rng), 1.0)
    prices = dict(zip(measured.hosts, (0.4, 0.1, 0.9, 0.3, 0.2), strict=True))
    time_of = {
        hosts: predicted_s(hosts, traffic, measured)
        for size in (3, 4, 5)
        for hosts in itertools.combinations(measured.hosts, size)
    }
    price_of = {hosts: sum(map(prices.get, hosts)) * time_of[hosts] / 3600 for hosts in time_of}

    for wanted_s in (*np.quantile(list(time_of.values()), [0, 0.1, 0.5]) * (1 + 1e-9), None):
        advice = advise(measured, traffic, cluster(5), prices=prices, wanted_time_s=wanted_s).hosts
        meeting = [hosts for hosts in time_of if wanted_s is None or time_of[hosts] <= wanted_s]
        cheapest = min(meeting, key=price_of.__getitem__)
        assert advice is not None and advice.wanted is not None
        assert advice.wanted.price_per_run == pytest.approx(price_of[cheapest])
        assert advice.wanted.hosts == cheapest


def test_without_prices_the_fewest_hosts_meet_the_wanted_time() -> None:
    advice = advise(one_slow(6), ring(8), cluster(6), wanted_time_s=1000.0).hosts
    assert advice is not None and advice.wanted is not None
    assert len(advice.wanted.hosts) == 4


def test_a_time_that_no_choice_meets_is_refused_with_the_best() -> None:
    with pytest.raises(
        InputError, match=r"take 1 ms or less; the best takes \d.*, on h0, h2, h3, h4, h5$"
    ):
        advise(one_slow(6), ring(10), cluster(6), wanted_time_s=1e-3)


def test_method_and_seed_reach_every_choice() -> None:
    rng = np.random.default_rng(1)
    measured, traffic = random_network(4, rng), random_traffic(8, rng)
    first, second = (
        advise(measured, traffic, cluster(4), method="random", seed=seed).hosts for seed in (1, 2)
    )
    assert first is not None and second is not None
    assert first.all_hosts.placement.method == "random"
    assert first.all_hosts.cost.bottleneck_s != second.all_hosts.cost.bottleneck_s


def test_only_the_hosts_of_the_cluster_are_judged() -> None:
    advice = advise(one_slow(7), ring(4), cluster(7).select(["h0", "h2", "h3", "h4", "h5"]))
    assert advice.bad_hosts == ()
    assert advise(one_slow(7)).hosts is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"cluster": cluster(1, 8)}, "one host leaves nothing to choose"),
        ({"cluster": cluster(3)}, "8 ranks do not fit: 3 hosts have 6 slots"),
        ({"cluster": cluster(7)}, "host 'h6' is not in this network"),
        ({"cluster": None}, "needs a cluster"),
        ({"traffic": None, "prices": {"h0": 1.0}}, "need the traffic of a program"),
        ({"traffic": None, "wanted_time_s": 1.0}, "need the traffic of a program"),
        ({"wanted_time_s": 0.0}, "wanted time: must be finite and > 0 s, got 0.0"),
        ({"wanted_time_s": -1.0}, "got -1.0"),
        ({"wanted_time_s": math.nan}, "got nan"),
        ({"method": "best"}, "unknown name 'best'"),
        ({"prices": {"h9": 1.0}}, "unknown host 'h9'"),
        ({"prices": {"h0": 1.0}}, "prices: host 'h1' has none"),
        ({"prices": dict.fromkeys(cluster(6).hosts, -1.0)}, "must be finite and >= 0, got -1.0"),
        ({"prices": dict.fromkeys(cluster(6).hosts, math.nan)}, "got nan"),
        ({"prices": dict.fromkeys(cluster(6).hosts, math.inf)}, "got inf"),
    ],
)
def test_what_cannot_be_used_is_refused(changes, problem: str) -> None:
    arguments = {"traffic": ring(8), "cluster": cluster(6)} | changes
    with pytest.raises(InputError, match=problem):
        advise(one_slow(6), **arguments)


def test_an_unmeasured_pair_is_refused_by_name() -> None:
    measured = one_slow(6)
    measured.bandwidth_Bps[2, 3] = measured.latency_s[4, 5] = np.nan
    with pytest.raises(TopologyError, match="h2 -> h3 was not measured, nor 1 more pairs"):
        advise(measured, ring(8), cluster(6))
    assert [bad.host for bad in advise(measured).bad_hosts] == ["h1"]


def test_a_price_needs_the_run_time() -> None:
    unknown = dataclasses.replace(ring(8), run_time_s=math.nan)
    with pytest.raises(InputError, match="run time is unknown"):
        advise(one_slow(6), unknown, cluster(6), prices=dict.fromkeys(cluster(6).hosts, 1.0))


@pytest.mark.parametrize("text", ["h0=0.5,h1=1e-1", " h0 = 0.5, h1=0.1 "])
def test_prices_are_read_from_the_option(text: str) -> None:
    assert parse_prices(text, ["h0", "h1"]) == {"h0": 0.5, "h1": 0.1}


def test_one_price_is_for_every_host() -> None:
    assert parse_prices("0.25", ["h0", "h1"]) == {"h0": 0.25, "h1": 0.25}


def test_prices_are_read_from_a_file(tmp_path) -> None:
    file = tmp_path / "prices"
    file.write_text("# per hour\nh1 0.1\n\nh0=0.5 # on demand\n")
    assert parse_prices(str(file), ["h0", "h1"]) == {"h0": 0.5, "h1": 0.1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("h0=a,h1=1", "--prices: 'a' is not a number"),
        ("h0=1,h0=2", "--prices: host 'h0' has a price already"),
        ("h0=1 2,h1=1", "expected a host and its price, got 'h0=1 2'"),
        ("h0=1", "host 'h1' has none"),
        ("h0=1,h1=-2", "host 'h1': must be finite and >= 0, got -2.0"),
        ("nowhere.txt", "'nowhere.txt' is neither a file, nor host=price"),
        ("nan", "got nan"),
    ],
)
def test_prices_that_are_not_understood_are_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_prices(text, ["h0", "h1"])


def test_a_wrong_line_of_a_price_file_is_named(tmp_path) -> None:
    file = tmp_path / "prices"
    file.write_text("h0 0.5\nh1\n")
    with pytest.raises(InputError, match=r"prices:2: expected a host and its price, got 'h1'"):
        parse_prices(str(file), ["h0", "h1"])


def test_a_list_of_prices_may_be_longer_than_a_name_of_a_file() -> None:
    hosts = [f"node{number:03}" for number in range(64)]
    prices = parse_prices(",".join(f"{host}=0.5" for host in hosts), hosts)
    assert prices == dict.fromkeys(hosts, 0.5)
