# SPDX-License-Identifier: Apache-2.0
"""The page of a run, opened in a browser without a screen."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from browser import browse
from report_samples import comparison, ring, runs, save_jobs, save_run, two_racks

import fairlead as fl
from fairlead.errors import InputError
from fairlead.report.charts import ColorRange, short_names
from fairlead.report.page import write_report
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import SECONDS
from fairlead.report.traffic_charts import inside_ratio, traffic_charts

HOSTS = [f"node{number}" for number in range(8)]
EVIL = [
    "<script>document.title='ran'</script>",
    "<img src=x onerror=\"document.title='ran'\">",
    '<a href="http://evil.example">link</a>',
    "</script><b>bold",
]


class Page(HTMLParser):
    """Elements with their attributes, and the text outside scripts."""

    def __init__(self, source):
        super().__init__()
        self.elements = []
        self.text = ""
        self.classes = []
        self._is_script = False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.classes += (dict(attributes).get("class") or "").split()
        self._is_script = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._is_script = False

    def handle_data(self, data):
        if not self._is_script:
            self.text += data + "\n"

    def count(self, tag):
        return sum(tag == name for name, _ in self.elements)


def drawn(page, profile):
    """The document after its scripts ran."""
    return Page(browse(page, profile, "--dump-dom"))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = save_run(tmp_path_factory.mktemp("run"), HOSTS, num_ranks=32)
    write_report(folder, folder / "report.html")
    return drawn(folder / "report.html", tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="module")
def evil_page(tmp_path_factory):
    folder = save_run(tmp_path_factory.mktemp("evil"), EVIL, program=EVIL[0])
    write_report(folder, folder / "report.html")
    return drawn(folder / "report.html", tmp_path_factory.mktemp("profile"))


def test_every_chart_is_drawn(page):
    charts = [a["id"] for _, a in page.elements if re.fullmatch(r"chart-\d+", a.get("id") or "")]

    # Times; latency and bandwidth as heatmap, boxes and intervals; three views of the traffic.
    assert len(charts) == 1 + 6 + 3
    assert page.classes.count("js-plotly-plot") == len(charts)
    assert page.classes.count("heatmaplayer") >= 5
    assert page.classes.count("box") >= 2 * 8


@pytest.mark.parametrize(
    "label",
    [
        "Latency from host to host (µs)",
        "Bandwidth from host to host (MB/s)",
        "Traffic in rank order (MiB)",
        "Before: by host, placed by launcher (MiB)",
        "After: by host, placed by scotch (MiB)",
        "Measured time (s)",
        "Latency (µs)",
        "Bandwidth (MB/s)",
        "200 µs",
        "100 MB/s",
        "2 MiB",
        "from host",
        "to rank, grouped by host",
        "node7",
        "mean, 95 % interval",
    ],
)
def test_titles_units_and_names_are_on_the_page(page, label):
    assert label in page.text.replace("\N{MINUS SIGN}", "-")


def test_summary_says_what_was_won(page):
    assert "With scotch the program took 3.00\N{NO-BREAK SPACE}s, with launcher" in page.text
    assert "2.00 times as fast (95\N{NO-BREAK SPACE}% interval" in page.text
    assert "won back after 3 runs" in page.text
    assert "2024-01-31T12:00:00+00:00" in page.text


def test_every_chart_has_its_values_as_text(page):
    plots = [a for _, a in page.elements if re.fullmatch(r"chart-\d+", a.get("id") or "")]

    assert all(plot["role"] == "img" and len(plot["aria-label"]) > 40 for plot in plots)
    # That of the times stands below it, open.
    assert page.count("details") == page.text.count("Values as a table") == len(plots) - 1
    for text in ("node0 → node2", "75 % of it stays inside hosts", "stays inside", "0 → 1"):
        assert text in page.text.replace("\N{NO-BREAK SPACE}", " ")


def test_every_table_is_named_and_scrolls_by_keyboard(page):
    regions = [a for _, a in page.elements if "scroll" in (a.get("class") or "").split()]

    assert len(regions) == page.count("table") == page.count("caption")
    assert all(r["tabindex"] == "0" and r["role"] == "region" for r in regions)
    assert len({region["aria-label"] for region in regions}) == len(regions)


def test_no_name_of_an_objective_is_shown(page):
    for name in ("comm_time_s", "bottleneck_s", "bottleneck_and_mean_s", "Kendall"):
        assert name not in page.text
    assert "Busiest part of the network: orders the methods as measured" in page.text


def test_headings_go_down_one_level_at_a_time(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]

    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise([0, *levels]))


def test_single_runs_are_dots(page):
    # Five runs of three methods, and a mean each; pairs of the intervals come on top.
    assert page.classes.count("point") >= 5 * 3 + 3


def test_page_can_ask_for_nothing(page):
    addresses = [
        attributes[name]
        for _, attributes in page.elements
        for name in ("src", "href", "xlink:href", "srcset", "action")
        if attributes.get(name)
    ]
    policy = next(
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )

    assert not [address for address in addresses if not address.startswith("data:image/png;")]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy
    assert "http" not in policy
    assert page.count("link") == page.count("iframe") == 0


def test_no_name_runs_or_links(evil_page):
    title = re.search(r"^(.*) – Fairlead$", evil_page.text, re.MULTILINE)

    assert title is not None
    assert evil_page.count("script") == 3
    assert evil_page.count("img") == evil_page.count("b") == 0
    assert not [a for tag, a in evil_page.elements if tag == "a" and a.get("href")]


def test_names_are_shown_as_they_are(evil_page):
    for name in EVIL:
        assert name in evil_page.text


def test_inlined_library_stands_once(tmp_path):
    write_report(save_run(tmp_path, HOSTS), tmp_path / "report.html")
    source = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert source.count("plotly.js v") == 1
    assert source.count("<script") - source.count('createElement("<script') <= 6


def test_directory_without_anything_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has none of network\.net\.npz"):
        write_report(tmp_path, tmp_path / "report.html")


def test_files_of_different_runs_are_refused(tmp_path):
    ring(8).save(tmp_path / "traffic.traffic.npz")
    comparison(HOSTS, 16).save(tmp_path / "comparison.json")

    with pytest.raises(InputError, match="traffic has 8, comparison has 16"):
        write_report(tmp_path, tmp_path / "report.html")


def test_damaged_file_leaves_no_page(tmp_path):
    save_run(tmp_path, HOSTS)
    (tmp_path / "comparison.json").write_text("{")

    with pytest.raises(InputError, match=r"comparison\.json"):
        write_report(tmp_path, tmp_path / "report.html")

    assert not (tmp_path / "report.html").exists()


def test_two_files_of_one_kind_are_refused(tmp_path):
    for name in ("a", "b"):
        two_racks(HOSTS).save(tmp_path / name)

    with pytest.raises(InputError, match="a second network"):
        write_report([tmp_path / "a", tmp_path / "b"], tmp_path / "report.html")


@pytest.mark.parametrize("name", ["network.net.npz", "traffic.traffic.npz", "placement.json"])
def test_any_part_alone_makes_a_page(tmp_path, name):
    save_run(tmp_path, HOSTS)

    sections = write_report([tmp_path / name], tmp_path / "report.html")

    assert sections[-1] == "What was measured when"


def test_run_of_several_jobs_makes_a_page(tmp_path):
    sections = write_report(save_jobs(tmp_path), tmp_path / "report.html")

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert sections == ["Jobs placed by cyclic", "What was measured when"]
    assert "<h1>Placement of 2 jobs on 3 hosts by cyclic</h1>" in page
    assert "<dt>h0</dt><dd>ring 0, 3; 2 slots taken</dd>" in page


def test_best_method_is_the_predicted_one_where_times_tie(tmp_path):
    hosts = ["a", "b"]
    methods = {
        "launcher": runs(hosts, [0, 1], [6.0, 6.1, 5.9], 2.0),
        "cyclic": runs(hosts, [0, 1], [6.0, 6.0, 6.0], 3.0),
        "scotch": runs(hosts, [1, 0], [6.1, 6.0, 6.0], 1.0),
    }
    compared = comparison(hosts, 2, methods=methods)

    assert RunFiles(comparison=compared).after().method == "scotch"
    assert RunFiles(comparison=comparison(hosts)).after().method == "scotch"


def test_traffic_views_share_one_colour_scale_and_all_bytes():
    hosts = [f"n{number}" for number in range(20)]
    compared = comparison(hosts, 300)

    charts = traffic_charts(ring(300), compared.placement("launcher"), compared.placement("scotch"))

    traces = [chart.figure["data"][0] for chart in charts]
    assert len(charts) == 3
    assert len({(trace["zmin"], trace["zmax"]) for trace in traces}) == 1
    for trace in traces:
        shown_mib = sum(value for row in trace["z"] for value in row if value is not None)
        assert shown_mib * 2**20 == pytest.approx(300 * 5e6)
        assert len(trace["z"]) <= 140


def test_regrouped_rows_follow_the_placement():
    placement = fl.Placement(["a", "b"], np.array([1, 0, 1, 0]), "cyclic")

    figure = traffic_charts(ring(4), None, placement)[1].figure

    assert figure["data"][0]["y"] == ["rank 1 on a", "rank 3 on a", "rank 0 on b", "rank 2 on b"]
    # Rank 1 sends to rank 2: row 0, column 3.
    assert figure["data"][0]["z"][0] == [None, None, None, pytest.approx(5e6 / 2**20)]
    assert figure["layout"]["xaxis"]["tickvals"] == [0.5, 2.5]


def test_inside_ratio_counts_bytes_between_ranks_of_one_host():
    # A ring of eight on two hosts in blocks has six of eight links inside.
    blocked = comparison(["a", "b"], 8).placement("launcher")

    assert inside_ratio(ring(8), blocked) == pytest.approx(6 / 8)


def test_colours_follow_the_logarithm_of_wide_ranges_only():
    seconds = SECONDS[-1]

    wide = ColorRange.of([np.array([1.0, 1000.0, np.nan])], seconds)
    narrow = ColorRange.of([np.array([1.0, 5.0, 0.0])], seconds)

    assert wide.ends() == (0.0, 3.0)
    assert wide.ticks()["ticktext"] == ["1 s", "10 s", "100 s", "1000 s"]
    assert narrow.ends() == (0.0, 5.0)
    assert ColorRange.of([np.zeros(3)], seconds).ends() == (0.0, 1.0)


def test_names_are_shortened_only_while_distinct():
    assert short_names(["a.cloud.example", "b.cloud.example"]) == ["a", "b"]
    assert short_names(["a.x", "a.y"]) == ["a.x", "a.y"]
    assert short_names(["10.0.0.1", "11.0.0.1"]) == ["10.0.0.1", "11.0.0.1"]
    long_names = ["n" * 30 + "1", "n" * 30 + "2"]
    assert short_names(long_names) == ["nnnnnnnn…nnnnnnn1", "nnnnnnnn…nnnnnnn2"]
