# SPDX-License-Identifier: Apache-2.0
"""The oracle reduces what links do along routes; what is unknown stays unknown."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from torus_files import host, shares, topology

from fairlead.errors import Error, InputError
from fairlead.measure.metrics import MetricSource, Quantity, Series, open_source
from fairlead.model.network import Network
from fairlead.model.topology import Reduction
from fairlead.watch.oracle import Oracle, Question
from fairlead.watch.oracle import oracle as oracle_module
from fairlead.watch.oracle.latencies import Prober


class Counters(MetricSource):
    """Gives what a test put in; fails where that is an error."""

    name = "counters"
    series: list[Series] | Error

    def __init__(self) -> None:
        self.series = []

    def read(self, now_s: float, window_s: float) -> list[Series]:
        if isinstance(self.series, Error):
            raise self.series
        return self.series


def one(port: str, quantity: Quantity, at_s: float, value: float) -> Series:
    return Series(port, True, quantity, np.array([at_s]), np.array([value]))


def recorded(folder: Path, stalled: dict) -> Oracle:
    """An oracle of a 3 x 2 x 8 torus that has read a recording."""
    (folder / "ldms.txt").write_text(shares(stalled))
    oracle = Oracle(topology(folder, 3, 2, 8), [open_source(f"ldms:{folder}/ldms.txt")])
    oracle.use_clock_of_samples()
    oracle.collector.read_all()
    return oracle


def stalls(oracle: Oracle, *nodes: str, reduction: Reduction | None = None) -> np.ndarray:
    return oracle.ask(Question(nodes, ("stalls",), reduction)).metrics["stalls"].values


def test_credit_stalls_of_the_sending_end_tell_of_the_route_out_of_it(tmp_path: Path) -> None:
    # As the paper has it (section IV-B): "on the Y+ link out of Gemini (1,0,6)".
    oracle = recorded(tmp_path, {((0, 0, 6), "X+"): 0.68})

    values = stalls(oracle, host(0, 0, 6), host(1, 0, 6))

    np.testing.assert_allclose(values, [[0, 0.68], [np.nan, 0]])


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [(None, 0.5), (Reduction.max, 0.5), (Reduction.min, 0.1), (Reduction.sum, 0.6)],
)
def test_route_of_two_links_has_their_reduction(
    tmp_path: Path, reduction: Reduction | None, expected: float
) -> None:
    oracle = recorded(tmp_path, {((0, 0, 6), "X+"): 0.5, ((1, 0, 6), "Z+"): 0.1})

    values = stalls(oracle, host(0, 0, 6), host(1, 0, 7), reduction=reduction)

    assert values[0, 1] == pytest.approx(expected)


def test_nodes_of_one_router_have_0(tmp_path: Path) -> None:
    oracle = recorded(tmp_path, {((0, 0, 6), "X+"): 0.5})

    answer = oracle.ask(Question(("c0-0c0s0n0", "c0-0c0s0n1"), ("hops", "bw", "stalls")))

    for metric in answer.metrics.values():
        assert metric.values.tolist() == [[0, 0], [0, 0]]
        assert metric.coverage.tolist() == [[1, 1], [1, 1]]


def test_coverage_is_the_share_of_known_links(tmp_path: Path) -> None:
    oracle = recorded(tmp_path, {((0, 0, 6), "X+"): 0.5})

    stalls = oracle.ask(Question((host(0, 0, 6), host(1, 0, 7)))).metrics["stalls"]

    assert stalls.coverage.tolist() == [[1, 0.5], [0, 1]]


def test_free_bandwidth_is_what_the_fullest_link_leaves(tmp_path: Path) -> None:
    counters = Counters()
    net = topology(tmp_path, 3, 2, 8)
    oracle = Oracle(net, [counters], clock=lambda: 110.0)
    capacity_Bps = net.links.capacity_Bps[0]
    for at_s in (90.0, 100.0, 110.0):
        carried = 0.25 * capacity_Bps * at_s
        counters.series = [
            one("1,0,6 X-", Quantity.carried_bytes, at_s, carried),
            one("1,0,7 Z-", Quantity.carried_bytes, at_s, 2 * carried),
        ]
        oracle.collector.read_all()

    nodes = (host(0, 0, 6), host(1, 0, 7))
    metrics = oracle.ask(Question(nodes, ("free_Bps", "bw"))).metrics

    assert metrics["free_Bps"].values[0, 1] == pytest.approx(0.5 * capacity_Bps)
    assert metrics["bw"].values[0, 1] == pytest.approx(0.5)


def test_time_stalled_is_shared_by_the_lanes_of_a_link(tmp_path: Path) -> None:
    file = tmp_path / "two-tiles.txt"
    ends = [f"c{x}-0c0s0g0l{{tile}}[({x},0,0)]" for x in (0, 1)]
    lines = [
        f"{src} {way} -> {dst} LinkType: backplane".replace("{tile}", tile)
        for src, dst, way in ((ends[0], ends[1], "X+"), (ends[1], ends[0], "X-"))
        for tile in ("00", "01")
    ]
    file.write_text("\n".join(lines))
    from fairlead.measure.topologies.catalogue import Given, import_topology

    counters = Counters()
    oracle = Oracle(import_topology("gemini", Given(file)), [counters], clock=lambda: 110.0)
    for at_s in (90.0, 100.0, 110.0):
        counters.series = [one("1,0,0 X-", Quantity.stalled_s, at_s, 0.5 * at_s)]
        oracle.collector.read_all()

    assert stalls(oracle, host(0, 0, 0), host(1, 0, 0))[0, 1] == pytest.approx(0.25)


def test_packets_held_back_are_reported_as_stalls(tmp_path: Path) -> None:
    counters = Counters()
    oracle = Oracle(topology(tmp_path, 3, 2, 2), [counters], clock=lambda: 110.0)
    for at_s in (90.0, 100.0, 110.0):
        counters.series = [
            one("1,0,0 X-", Quantity.packets, at_s, 100 * at_s),
            one("1,0,0 X-", Quantity.shaped_packets, at_s, 20 * at_s),
        ]
        oracle.collector.read_all()

    assert stalls(oracle, host(0, 0, 0), host(1, 0, 0))[0, 1] == pytest.approx(0.2)


def test_what_is_stale_is_unknown(tmp_path: Path) -> None:
    now_s = [100.0]
    counters = Counters()
    counters.series = [one("1,0,0 X-", Quantity.stalled_ratio, 100.0, 0.5)]
    oracle = Oracle(topology(tmp_path, 3, 2, 2), [counters], stale_s=60, clock=lambda: now_s[0])
    oracle.collector.read_all()
    question = Question((host(0, 0, 0), host(1, 0, 0)), window_s=600)
    assert oracle.ask(question).metrics["stalls"].values[0, 1] == 0.5

    now_s[0] = 161.0
    answer = oracle.ask(question)

    assert np.isnan(answer.metrics["stalls"].values[0, 1])
    assert np.isnan(answer.age_s)


def test_source_that_fails_is_reported_once_and_when_it_is_back(tmp_path: Path) -> None:
    lines: list[str] = []
    counters = Counters()
    oracle = Oracle(
        topology(tmp_path, 3, 2, 2), [counters], report=lines.append, clock=lambda: 100.0
    )

    counters.series = Error("counters: gone")
    oracle.collector.read_all()
    oracle.collector.read_all()
    counters.series = [one("1,0,0 X-", Quantity.stalled_ratio, 100.0, 0.5)]
    oracle.collector.read_all()

    assert lines == ["counters: gone; retried every round", "counters: is back"]
    assert oracle.collector.states[0].num_failures == 2
    assert stalls(oracle, host(0, 0, 0), host(1, 0, 0))[0, 1] == 0.5


def test_source_that_fails_as_nobody_expects_is_read_again(tmp_path: Path) -> None:
    lines: list[str] = []
    is_back = threading.Event()

    class Odd(Counters):
        def read(self, now_s: float, window_s: float) -> list[Series]:
            if not lines:
                raise KeyError("port")
            is_back.set()
            return [one("1,0,0 X-", Quantity.stalled_ratio, 100.0, 0.5)]

    oracle = Oracle(topology(tmp_path, 3, 2, 2), [Odd()], report=lines.append)
    oracle.collector.run(0.01)

    assert is_back.wait(60)
    assert lines[0] == "counters: cannot be read: KeyError('port'); retried every round"
    oracle.collector.stop()


def test_slow_source_delays_no_other(tmp_path: Path) -> None:
    reads = threading.Semaphore(0)
    goes_on = threading.Event()

    class Slow(Counters):
        name = "slow"

        def read(self, now_s: float, window_s: float) -> list[Series]:
            goes_on.wait(60)
            return []

    class Fast(Counters):
        def read(self, now_s: float, window_s: float) -> list[Series]:
            reads.release()
            return [one("1,0,0 X-", Quantity.stalled_ratio, 100.0, 0.5)]

    oracle = Oracle(topology(tmp_path, 3, 2, 2), [Slow(), Fast()], clock=lambda: 100.0)
    begun = threading.Thread(target=oracle.collector.run, args=(0.01,))
    begun.start()

    assert all(reads.acquire(timeout=60) for _ in range(3))
    assert stalls(oracle, host(0, 0, 0), host(1, 0, 0))[0, 1] == 0.5
    assert [state.last_s is None for state in oracle.collector.states] == [True, False]
    oracle.collector.stop()
    goes_on.set()
    begun.join()


def test_memory_is_bounded_however_much_a_source_sends(tmp_path: Path) -> None:
    counters = Counters()
    oracle = Oracle(topology(tmp_path, 3, 2, 2), [counters], clock=lambda: 100.0)
    for round_of in range(5):
        counters.series = [
            one(f"no such port {round_of} {number}", Quantity.stalled_ratio, 100.0, 0.5)
            for number in range(100)
        ]
        counters.series.append(
            Series("1,0,0 X-", True, Quantity.stalled_ratio, np.arange(10000.0), np.zeros(10000))
        )
        oracle.collector.read_all()

    samples = oracle.store.of(Quantity.stalled_ratio)
    assert samples is not None and samples.values.shape == (1, 64)
    assert oracle.collector.states[0].num_unknown == 100


def test_latency_is_what_a_probe_measured(tmp_path: Path) -> None:
    nodes = (host(0, 0, 0), host(1, 0, 0), host(2, 0, 0))
    measured = Network(nodes[:2], np.array([[0, 5e-6], [6e-6, 0]]), np.full((2, 2), 1e9))
    oracle = Oracle(topology(tmp_path, 3, 2, 2), latency=lambda: measured)

    latency_s = oracle.ask(Question(nodes, ("latency_s",))).metrics["latency_s"]

    nan = np.nan
    np.testing.assert_equal(latency_s.values, [[0, 5e-6, nan], [6e-6, 0, nan], [nan, nan, 0]])


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (Question(()), "nodes: expected 1 to 2048, got 0"),
        (Question(("a",) * 2049), "nodes: expected 1 to 2048, got 2049"),
        (Question(("a",), ("speed",)), "metrics: unknown 'speed'; there are hops, bw, stalls"),
        (Question(("a",), window_s=0), "window_s: must be > 0 and <= 600, got 0"),
        (Question(("a",)), "host 'a' is not in "),
    ],
)
def test_question_that_cannot_be_answered_is_named(
    tmp_path: Path, question: Question, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        Oracle(topology(tmp_path, 3, 2, 2)).ask(question)


def test_probe_that_fails_leaves_latencies_unknown_until_it_works() -> None:
    lines: list[str] = []
    outcomes: list[Network | Error] = [
        Error("no launcher"),
        Error("no launcher"),
        Network(["a"], np.zeros((1, 1)), np.full((1, 1), np.inf)),
    ]

    def probe() -> Network:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Error):
            raise outcome
        return outcome

    prober = Prober(probe, lines.append)
    prober.measure()
    prober.measure()
    assert prober() is None
    prober.measure()

    assert prober() is not None
    assert lines == ["probe: no launcher; retrying", "probe: works again"]


def test_what_is_kept_for_windows_is_bounded(tmp_path: Path) -> None:
    oracle = recorded(tmp_path, {((0, 0, 6), "X+"): 0.5})
    nodes = (host(0, 0, 6), host(1, 0, 6))

    for window_s in range(1, 20):
        for reduction in Reduction:
            metrics = ("stalls", "bw", "free_Bps", "capacity_Bps")
            oracle.ask(Question(nodes, metrics, reduction, float(window_s)))

    assert [window_s for window_s in range(1, 20) if oracle.is_ready(window_s)] == [17, 18, 19]


@pytest.mark.parametrize("is_asked", [True, False])
def test_what_is_asked_for_is_computed_with_each_read_and_not_by_the_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_asked: bool
) -> None:
    counters, computed = Counters(), []
    oracle = Oracle(topology(tmp_path, 3, 2, 8), [counters], clock=lambda: 110.0)
    compute = oracle_module.link_metrics
    monkeypatch.setattr(
        oracle_module,
        "link_metrics",
        lambda store, links, now_s, window_s, stale_s: (
            computed.append(window_s) or compute(store, links, now_s, window_s, stale_s)
        ),
    )

    def read(used_ratio: float) -> None:
        counters.series = [one("1,0,6 X-", Quantity.used_ratio, 105.0 + used_ratio, used_ratio)]
        oracle.collector.read_all()

    def used() -> float:
        nodes = (host(0, 0, 6), host(1, 0, 6))
        return float(
            oracle.ask(Question(nodes, ("bw",), window_s=0.2 + 5)).metrics["bw"].values[0, 1]
        )

    read(0.2)
    assert used() == pytest.approx(0.2)
    read(0.4)
    if is_asked:
        assert used() == pytest.approx(0.3)
        assert len(computed) == 2
    read(0.6)
    # Nobody waits for a window that was asked for since the last read; another is not computed.
    assert len(computed) == (3 if is_asked else 2)
    assert used() == pytest.approx(0.4)
    assert len(computed) == 3
