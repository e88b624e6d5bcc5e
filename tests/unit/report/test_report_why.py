# SPDX-License-Identifier: Apache-2.0
"""The page of a run has the cause of a gain: bytes per level, both placements, the decision."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from report_samples import comparison, ring, runs, save_run, two_racks

import fairlead as fl
from fairlead.files.run_directory import PLACEMENT, RECORD
from fairlead.flows.compare.statistics import geometric_mean_interval, ratio_to_baseline
from fairlead.report.charts import ColorRange
from fairlead.report.comparison_view import findings
from fairlead.report.decision_view import saving_words
from fairlead.report.levels import bottlenecks, levels
from fairlead.report.page import write_report
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import BYTES, SECONDS
from fairlead.report.summary import sentences, title

HOSTS = ["h0", "h1", "h2", "h3"]
RACKS = [[0, 2], [1, 3]]
IN_ORDER = fl.Placement(HOSTS, np.array([0, 0, 1, 1, 2, 2, 3, 3]), "launcher")
BY_RACK = fl.Placement(HOSTS, np.array([0, 0, 2, 2, 1, 1, 3, 3]), "optimize")


def test_levels_hold_all_bytes_of_a_ring_between_racks_or_inside():
    # A ring of eight ranks: 5 MB from each to the next, 4 of 8 steps leave a host.
    before = {load.name: load for load in levels(ring(8), two_racks(HOSTS), IN_ORDER, RACKS)}
    after = {load.name: load for load in levels(ring(8), two_racks(HOSTS), BY_RACK, RACKS)}

    assert {name: load.bytes for name, load in before.items()} == {
        "inside hosts": 20e6,
        "inside racks": 0,
        "between racks": 20e6,
    }
    assert (after["inside racks"].bytes, after["between racks"].bytes) == (10e6, 10e6)
    # 10 messages of 200 us and 5 MB at 20 MB/s, four times.
    assert before["between racks"].seconds == pytest.approx(4 * (10 * 200e-6 + 0.25))


def test_bottleneck_has_the_bytes_of_its_pairs_at_its_capacity():
    uplink = fl.BottleneckGroup(np.array([[0, 1], [0, 3], [2, 1], [2, 3]]), 10e6)
    network = dataclasses.replace(
        two_racks(HOSTS), groups=[uplink], nic_out_Bps=np.full(4, 50e6), nic_in_Bps=None
    )

    shared, interface = bottlenecks(ring(8), network, IN_ORDER)

    # h0 -> h1 and h2 -> h3, 5 MB each.
    assert (shared.bytes, shared.seconds) == (10e6, 1.0)
    assert (interface.bytes, interface.seconds) == (5e6, 0.1)


def saved_run(folder):
    two_racks([f"h{host}" for host in range(8)]).save(folder / "network.net.npz")
    ring(8).save(folder / "traffic.traffic.npz")
    hosts = [f"h{host}" for host in range(8)]
    fl.Placement(hosts, np.array([0, 2, 4, 6, 1, 3, 5, 7]), "optimize").save(folder / PLACEMENT)
    gain = {"ratio": 0.4, "low_ratio": 0.3, "high_ratio": 0.5, "loss_risk": 0.001}
    features = {"relays": {"is_taken": False, "why": "not asked for", "saved_share": None}}
    steps = [
        {"step": "request", "program": ["/opt/bin/solver", "in.dat"]},
        {"step": "launcher", "host_of_rank": hosts},
        {"step": "decision", "line": "placed by optimize: 40% less time; deciding took 2 s"}
        | {"gain": gain, "rehearsed_rounds": 6, "deciding_s": 2.0},
        {"step": "expected", "predicted_s": 3.0, "features": features},
        {"step": "end", "exit_code": 0, "seconds": 3.2},
    ]
    record = {"kind": "run", "version": 1, "started": "2024-01-31T12:00:00+00:00", "steps": steps}
    (folder / RECORD).write_text(json.dumps(record))
    return folder


def test_page_of_a_run_has_its_decision_and_the_program_in_its_title(tmp_path):
    sections = write_report(saved_run(tmp_path), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()

    assert sections[:2] == ["Decision", "Where the bytes go"]
    assert "<h1>solver on 8 ranks and 8 hosts</h1>" in page
    for shown in ("40 % less time", "0.1 %", "3.00 s", "3.20 s", "not asked for", ">6<"):
        assert shown in page, shown
    assert "risk of losing more than 2 %" in page
    assert "Placed by launcher" in page
    assert "rehearsal" in page


def test_summary_names_the_bytes_between_racks_and_rates_by_group(tmp_path):
    files = RunFiles.load(saved_run(tmp_path))
    shown = " ".join(sentences(files))

    assert title(files) == "solver on 8 ranks and 8 hosts"
    assert "Placed by optimize: 40% less time." in shown
    assert "9.54 MiB cross between racks with optimize, 38.1 MiB with launcher." in shown
    assert "Bandwidth is 100 MB/s inside a group of hosts, 20.0 MB/s between groups." in shown


def test_placements_that_are_alike_are_one_row(tmp_path):
    noise = np.array([0.98, 1.0, 1.02])
    methods = {
        "launcher": runs(HOSTS, [0, 0, 1, 1, 2, 2, 3, 3], 6 * noise, 2.0),
        "blocked": runs(HOSTS, [0, 0, 1, 1, 2, 2, 3, 3], 5 * noise, 2.0),
        "scotch": runs(HOSTS, [3, 3, 2, 2, 1, 1, 0, 0], 3 * noise, 1.0),
    }
    compared = comparison(HOSTS, methods=methods)
    save_run(tmp_path, HOSTS)
    compared.save(tmp_path / "comparison.json")
    write_report(tmp_path, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()

    assert compared.distinct() == {"launcher": ("blocked",), "scotch": ()}
    assert ">launcher, blocked</th>" in page
    assert ">blocked</th>" not in page


def test_runs_that_do_not_decide_ask_for_more():
    methods = {
        "launcher": runs(HOSTS, [0, 1], [3.0, 3.1, 2.9], 2.0),
        "scotch": runs(HOSTS, [1, 0], [2.0, 4.0, 2.5], 1.0),
    }
    undecided = findings(comparison(HOSTS, 2, methods=methods))[0]

    assert undecided.endswith("These runs do not decide; repeat with a larger --repeats.")


def test_times_and_their_ratio_agree_and_no_interval_reaches_below_zero():
    few, base = [1.0, 9.0], [2.0, 2.2, 2.1]

    time_s, base_s = geometric_mean_interval(few), geometric_mean_interval(base)

    assert time_s.low > 0
    assert time_s.value == pytest.approx(3.0)
    assert ratio_to_baseline(few, base).value == pytest.approx(time_s.value / base_s.value)
    assert ratio_to_baseline(few, base[:2]).value == pytest.approx(3 / np.sqrt(2.0 * 2.2))


def test_a_loss_is_no_negative_saving():
    assert [saving_words(ratio) for ratio in (0.46, -0.02)] == ["46 % less time", "2 % more time"]


@pytest.mark.parametrize(
    ("low", "high", "family", "texts"),
    [
        (100, 2e6, BYTES, ["1 KiB", "32 KiB", "1 MiB"]),
        (7e-6, 2.1e-3, SECONDS, ["10 us", "100 us", "1 ms"]),
    ],
)
def test_ticks_of_colours_have_units_that_suit_them(low, high, family, texts):
    colors = ColorRange.of([np.array([low, high])], family[1])

    assert [text.replace("µ", "u") for text in colors.ticks()["ticktext"]] == texts
