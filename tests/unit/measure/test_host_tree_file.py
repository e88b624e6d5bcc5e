# SPDX-License-Identifier: Apache-2.0
"""A declared tree: racks and pods in a TOML file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.measure.network_sources import Measuring, network_source, source_kind
from fairlead.measure.network_sources.host_tree_file import read_host_tree
from fairlead.measure.network_sources.tree import TreeSource
from fairlead.measure.probe_program import ProbeProgram

PODS = """
inside_host = 0.5
beyond = 9

[[levels]]  # racks
cost = 1
groups = { r0 = ["n[01-02]"], r1 = ["n03", "n04"], r2 = ["m"] }

[[levels]]  # pods
cost = 3
groups = { p0 = ["r0", "r2"], p1 = ["r1"] }
"""


def written(folder: Path, text: str = PODS) -> Path:
    (folder / "racks.toml").write_text(text)
    return folder / "racks.toml"


def test_two_hosts_cost_what_their_lowest_common_group_does(tmp_path: Path) -> None:
    tree = read_host_tree(written(tmp_path))

    assert tree.hosts == ("n01", "n02", "n03", "n04", "m")
    # From n01: itself, its rack, another pod twice, another rack of its pod.
    assert tree.cost(np.zeros(5, dtype=np.int64), np.arange(5)).tolist() == [0.5, 1, 9, 9, 3]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("beyond = 9", "", "beyond: Field required"),
        ("cost = 3", "cost = 0", "host tree: costs: each must be finite and at least the one"),
        ("cost = 1", "costs = 1", r"levels\[0\]\.cost: Field required"),
        ('"n03"', '"n02"', r"levels\[0\]\.groups\.r1: 'n02' is in two groups"),
        ('"n[01-02]"', '"n[02-01]"', r"levels\[0\]\.groups\.r0='n\[02-01\]': '02-01' is no range"),
        ('"r2"]', '"r7"]', "'r7' is no group of the level below, which has r0, r1, r2"),
        (', "r2"]', "]", "'r2' of the level below is in none"),
        ("beyond = 9", "beyond = ", "not a readable TOML file"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_field(
    old: str, new: str, problem: str, tmp_path: Path
) -> None:
    assert old in PODS
    with pytest.raises(fl.InputError, match=rf"racks\.toml: .*{problem}"):
        read_host_tree(written(tmp_path, PODS.replace(old, new)))


def test_a_tree_is_a_source_that_only_tells_costs(tmp_path: Path) -> None:
    def program() -> ProbeProgram:
        raise AssertionError("a launcher was looked for")

    name = str(written(tmp_path))
    assert source_kind(name) is TreeSource
    source = network_source(name, Measuring(program))

    assert isinstance(source.look_up(None), fl.HostTree)
    with pytest.raises(fl.InputError, match=r"racks\.toml: a host tree has costs but no rates"):
        source.measure(fl.Cluster.uniform(["n01"], 1))


def test_costs_on_a_tree_are_those_of_each_pair_of_ranks(tmp_path: Path) -> None:
    tree = read_host_tree(written(tmp_path))
    traffic = fl.Traffic(bytes=[[0, 10, 20], [0, 0, 0], [7, 0, 0]], messages=np.eye(3)[::-1])
    placement = fl.Placement(["m", "n01", "n03"], np.array([1, 1, 0]))

    cost = fl.evaluate_on_tree(placement, traffic, tree)

    assert (cost.inter_bytes, cost.intra_bytes) == (27, 10)
    assert cost.weighted_sum == {"bytes": 10 * 0.5 + 27 * 3, "messages": 2 * 3 + 0.5}
