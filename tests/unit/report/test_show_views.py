# SPDX-License-Identifier: Apache-2.0
"""The terminal view of each kind of file: it fits, and says what the file holds."""

from __future__ import annotations

import dataclasses
import io
import json
import re

import numpy as np
import pytest
from report_samples import comparison, ring, runs, save_jobs, save_run, two_racks
from rich.console import Console

import fairlead as fl
from fairlead.errors import InputError
from fairlead.model.topology import whole_torus
from fairlead.report.blocks import reduce_blocks, split_evenly
from fairlead.report.comparison_view import comparison_table
from fairlead.report.files import load_any
from fairlead.report.network_charts import network_charts
from fairlead.report.palette import VIRIDIS, ink_on, viridis
from fairlead.report.placement_view import rank_ranges
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import BYTES, SECONDS, common_scale, human, three_digits
from fairlead.report.terminal import facts, view
from fairlead.report.terminal_heatmap import column_labels
from fairlead.watch.history import History

HOSTS = [f"node{number}" for number in range(8)]


def rendered(content, width, **options):
    stream = io.StringIO()
    console = Console(file=stream, width=width, **options)
    console.print(view(content, width))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"kind": "placement", "hosts": [', "damaged or truncated JSON: .* line 1"),
        ('{"kind": ' + "[" * 100_000, "damaged or truncated JSON: recursion limit exceeded"),
        ("hello", "neither a NumPy archive nor JSON"),
    ],
    ids=["truncated", "nested", "text"],
)
def test_what_cannot_be_parsed_is_named(text, problem, tmp_path):
    (tmp_path / "file").write_text(text)
    with pytest.raises(InputError, match=rf"file: {problem}"):
        load_any(tmp_path / "file")


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("num_hosts", [1, 3, 8, 64])
def test_network_fits_the_terminal(num_hosts, width):
    text = rendered(two_racks([f"node{number}" for number in range(num_hosts)]), width)

    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_columns_are_named_by_what_tells_hosts_apart():
    blocks = split_evenly(3, 3)

    assert column_labels(["h1", "h2", "h10"], blocks) == ["h1", "h2", "h10"]
    assert column_labels(["worker8", "worker10", "worker11"], blocks) == ["8", "10", "11"]
    assert column_labels(["ip-10-0-1-7", "ip-10-0-2-148", "ip-10-0-2-9"], blocks) == [
        "1-7",
        "2-148",
        "2-9",
    ]
    assert column_labels(["a-very-long", "b-very-long", "c"], blocks) == ["…long", "…long", "c"]
    assert column_labels(["h0.site", "h1.site", "h10.site"], blocks) == ["0", "1", "10"]
    assert column_labels(["login"], split_evenly(1, 1)) == ["login"]


def test_network_shows_units_and_spread():
    text = rendered(two_racks(HOSTS), 120)

    assert "Latency, one way (µs)" in text
    assert "Bandwidth (MB/s)" in text
    assert "when: 2024-01-31T12:00:00+00:00" in text
    latency = next(line for line in text.splitlines() if line.startswith("latency "))
    assert latency.split() == ["latency", "50.0", "µs", "200", "µs", "200", "µs", "1.00", "x"]


@pytest.mark.parametrize(
    ("num_items", "max_blocks", "lengths"),
    [(32, 11, [4] * 8), (8, 8, [1] * 8), (7, 3, [3, 2, 2]), (5, 0, [5]), (13, 6, [3, 3, 3, 2, 2])],
)
def test_blocks_are_alike_where_they_can_be(num_items, max_blocks, lengths):
    assert [len(block) for block in split_evenly(num_items, max_blocks)] == lengths


def test_blocks_show_the_median_of_what_was_measured():
    matrix = np.array([[1.0, 3, 5, 7], [2, 4, np.nan, 9], [0, 0, 1, 1], [0, 0, 1, 1]])

    cells = reduce_blocks(matrix, split_evenly(4, 2), np.nanmedian)

    assert cells.tolist() == [[2.5, 7.0], [0.0, 1.0]]


def test_unmeasured_pairs_are_named_and_null_for_machines():
    network = two_racks(HOSTS)
    latency_s = network.latency_s.copy()
    latency_s[2, 5] = np.nan
    partial = dataclasses.replace(network, latency_s=latency_s)

    assert "Not measured: node2 → node5" in rendered(partial, 120)
    assert facts(partial)["unmeasured_pairs"] == [("node2", "node5")]
    assert facts(partial)["latency_s"][2][5] is None


def sampled(hosts):
    """Two racks of which the last pair was not measured."""
    samples = np.full((len(hosts), len(hosts)), 12)
    samples[-1, -2] = samples[-2, -1] = 0
    return dataclasses.replace(two_racks(hosts), samples=samples)


def test_estimates_are_counted_and_named_for_machines():
    network = sampled(HOSTS)

    text = " ".join(rendered(network, 300).split())
    assert "4 % of the directed pairs are estimates (2 of 56)" in text
    assert "error bar: latency -10 % to +10 %, bandwidth -10 % to +10 %" in text
    assert facts(network)["estimated_pairs"] == [("node6", "node7"), ("node7", "node6")]


def test_measured_network_says_nothing_of_estimates():
    assert "estimate" not in rendered(two_racks(HOSTS), 120)
    assert facts(two_racks(HOSTS))["estimated_pairs"] == []


def test_sample_that_measured_all_pairs_says_so():
    network = dataclasses.replace(
        two_racks(HOSTS), origin={"sample": {"measured_pairs": 28, "all_pairs": 28}}
    )
    assert "All pairs were measured, so none is an estimate." in rendered(network, 120)


def test_estimated_cells_and_points_are_marked_on_the_page():
    charts = network_charts(sampled(HOSTS))

    heatmap = charts[0].figure["data"][0]["customdata"]
    # Even hosts come first, so node6 is in the fourth row and node7 in the last.
    assert heatmap[3][7] == "200 µs, estimated, 95 % error bar 180 µs to 220 µs"
    assert heatmap[7][6] == "50.0 µs"
    symbols = charts[-1].figure["data"][0]["marker"]["symbol"]
    assert sorted(symbols) == ["circle"] * 54 + ["circle-open"] * 2


def test_network_without_any_measurement_is_shown():
    nothing = np.full((2, 2), np.nan)

    text = rendered(fl.Network(["a", "b"], nothing, nothing), 80)

    assert "a → b" in text


def test_colours_differ_between_fast_and_slow():
    text = rendered(two_racks(HOSTS), 120, force_terminal=True, color_system="truecolor")

    assert "48;2;253;231;37" in text  # The bright end of viridis, #fde725, for the fastest.


def test_traffic_shows_totals_pairs_and_collectives():
    text = rendered(ring(8), 100)

    assert "Traffic of 8 ranks, run time 1.50 s" in text
    assert "38.1 MiB in 80 messages" in text
    assert "0 → 1" in text
    assert "allreduce" in text
    assert "250 ms" in text


def test_traffic_of_many_ranks_is_shown_in_blocks():
    text = rendered(ring(512), 80)

    assert "blocks of" in text
    assert max(map(len, text.splitlines())) <= 80


def test_placement_lists_ranks_per_host():
    placement = fl.Placement(["a", "b", "c"], np.array([0, 0, 0, 2, 2, 0]), "scotch")

    lines = rendered(placement, 80).splitlines()

    assert [line.split(None, 2) for line in map(str.strip, lines[-3:])] == [
        ["a", "4", "0-2, 5"],
        ["b", "0"],
        ["c", "2", "3, 4"],
    ]


def test_comparison_shows_times_normalised_and_found():
    text = rendered(comparison(HOSTS), 140)

    assert "scotch was 2.00 times as fast as launcher" in text
    assert "Kendall" not in text


def test_comparison_shows_rankings_only_on_request():
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(comparison_table(comparison(HOSTS), is_verbose=True))
    text = console.export_text()
    assert "busiest part of the network: ranks the methods as measured (Kendall's tau" in text
    assert "all bytes in turn: ranks" in text
    assert not re.search("[a-z]_(s|bytes)", text)


def test_names_of_equal_placements_cut_no_number_off():
    hosts = ["a", "b"]
    equal = ("launcher", "blocked", "scotch-groups", "scotch-inter")
    methods = {name: runs(hosts, [0, 1], [123.4, 125.6], 2.0) for name in equal}
    methods["optimize"] = runs(hosts, [1, 0], [83.4, 85.6], 1.0)

    text = rendered(comparison(hosts, 2, methods=methods), 80)

    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert all(name in text for name in methods)


def test_comparison_fits_eighty_columns():
    hosts = ["a", "b"]
    many = {name: runs(hosts, [0, 1], [123.4, 125.6], 2.0) for name in ("launcher", "scotch-intra")}

    text = rendered(comparison(hosts, 2, methods=many), 80)

    assert "…" not in text
    assert "scotch-intra" in text


def test_no_markup_in_a_name_is_obeyed():
    text = rendered(two_racks(["[bold red]x[/]", "[link=http://y]y[/link]"]), 100)

    assert "[bold red]x[/]" in text


@pytest.mark.parametrize(
    ("content", "kind"),
    [(two_racks(HOSTS), "network"), (ring(8), "traffic"), (comparison(HOSTS), "comparison")],
)
def test_facts_are_json(content, kind):
    assert json.loads(json.dumps(facts(content), allow_nan=False))["kind"] == kind


def test_topology_shows_each_host_with_its_router(tmp_path):
    sizes = (2, 2, 2)
    hosts = [f"nid{number:05d}" for number in range(16)]
    whole_torus(sizes, hosts, [9.375e9] * 3, [4e9] * 15 + [np.nan]).save(tmp_path / "a.topo.npz")

    content = load_any(tmp_path / "a.topo.npz")
    rows = rendered(content, 80).splitlines()

    assert rows[0] == "16 hosts on 8 routers or switches, 24 links, routes of a torus"
    assert rows[-16].split()[:1] + rows[-16].split()[2:] == ["nid00000", *"000", "4.00", "GB/s"]
    assert rows[-1].split()[:1] + rows[-1].split()[2:] == ["nid00015", *"111", "–"]
    shown = json.loads(json.dumps(facts(content)))
    assert (shown["kind"], shown["coordinates"][15]) == ("topology", [1, 1, 1])


@pytest.mark.parametrize("name", ["history.json", "a.topo.npz"])
def test_report_refuses_what_is_no_part_of_a_page(name, tmp_path):
    path = tmp_path / name
    whole_torus((2, 2, 2), HOSTS, [1e9] * 3).save(tmp_path / "a.topo.npz")
    history = History(program=("cg",), num_ranks=8, hosts=tuple(HOSTS))
    (tmp_path / "history.json").write_text(history.model_dump_json())
    with pytest.raises(InputError, match=f"{name}: not a part of a page; fairlead show prints it"):
        RunFiles.load([path])


def test_kind_is_known_by_content_not_by_name(tmp_path):
    save_run(tmp_path, HOSTS)
    for name in ("network.net.npz", "traffic.traffic.npz", "placement.json", "comparison.json"):
        disguised = (tmp_path / name).rename(tmp_path / f"{name}.bin")
        assert facts(load_any(disguised))["kind"] == name.partition(".")[0]


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\x03\x04" + b"\0" * 99, b"\xff\xfe", b"[]", b'{"kind": "plan"}', b"12"]
)
def test_foreign_file_is_refused_in_one_line(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)

    with pytest.raises(InputError) as caught:
        load_any(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_units_keep_three_digits_and_one_scale():
    assert human(0.000123456, SECONDS) == "123 µs"
    assert three_digits(0.012345) == "0.0123"
    assert [three_digits(value) for value in (9.996, 99.96, 0.09996)] == ["10.0", "100", "0.100"]
    assert three_digits(float("nan")) == "–"
    assert common_scale([np.nan, np.inf, 0], BYTES).unit == "B"
    scale = common_scale([50e-6, 200e-6, 3e-3], SECONDS)
    assert [scale.text(value) for value in (50e-6, 3e-3)] == ["50.0", "3000"]


def test_ranges_shorten_runs_of_three():
    assert rank_ranges([0, 1, 2, 4, 6, 7]) == "0-2, 4, 6, 7"


def test_ink_is_readable_on_every_colour():
    # WCAG 2: contrast of at least 4.5 for text; black or white always reaches it.
    def luminance(color):
        channels = [c / 255 for c in color]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for step in range(101):
        color = viridis(step / 100)
        ink = 1.0 if ink_on(color) == "#ffffff" else 0.0
        low, high = sorted([luminance(color), ink])
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_palette_ends_where_viridis_ends():
    assert [viridis(0), viridis(1)] == [(0x44, 0x01, 0x54), (0xFD, 0xE7, 0x25)]
    assert len(VIRIDIS) == 10


@pytest.mark.parametrize("num_hosts", [8, 16, 32, 64])
@pytest.mark.parametrize("name", ["h{}", "node{:02}.cluster.example", "compute-dy-c5n18xlarge-{}"])
def test_heatmaps_fit_eighty_columns_whatever_they_hold(num_hosts, name):
    hosts = [name.format(number) for number in range(num_hosts)]
    wide = np.triu(np.logspace(-3, 9, num_hosts**2).reshape(num_hosts, num_hosts), 1)
    network = fl.Network(hosts, wide * 1e-6, np.where(wide > 0, wide * 1e3, 1e8))
    traffic = fl.Traffic(np.rint(wide), (wide >= 0.5).astype(float))

    for text in (rendered(network, 80), rendered(traffic, 80)):
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("src \\ dst"))
        assert max(map(len, lines)) <= 80
        rows = lines[start : start + 8]
        assert "…" not in "".join(rows)
        assert len({row.split()[0] for row in rows}) == 8


@pytest.mark.parametrize("width", [40, 80])
def test_jobs_show_the_prediction_and_the_host_of_each_rank(tmp_path, width):
    save_jobs(tmp_path)

    content = load_any(tmp_path)
    text = rendered(content, width)

    assert "Placement of 2 jobs on 3 hosts by cyclic" in text.replace("\n", " ")
    assert "ring 0, 3; 2 slots taken" in text
    assert max(map(len, text.splitlines())) <= width
    shown = facts(load_any(tmp_path / "jobs.json"))
    assert shown["jobs"][0]["ranks_of_host"]["h0"] == [0, 3]
    assert shown["prediction"]["waiting_time_s"] > 0
    json.dumps(shown, allow_nan=False)
