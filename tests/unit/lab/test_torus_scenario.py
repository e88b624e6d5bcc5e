# SPDX-License-Identifier: Apache-2.0
"""A lab's torus has the routes of a Gemini, and each pair the rate of its slowest link."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torus_files import topology

from fairlead.errors import InputError
from fairlead.lab.scenario import Scenario
from fairlead.lab.topology import Topology, draw_topology
from fairlead.model.topology import whole_torus

TORUS = """hosts = 24
nic = "100MB/s"
[torus]
sizes = [3, 2, 2]
links = ["30MB/s", "20MB/s", "50MB/s"]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "torus.toml").write_text(text)
    return folder / "torus.toml"


@pytest.mark.parametrize("sizes", [(3, 2, 4), (4, 1, 2)])
def test_whole_torus_is_what_rtr_prints_of_one(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    imported = topology(tmp_path, *sizes)

    made = whole_torus(sizes, imported.hosts, [9.375e9] * 3)

    def ways(of: object) -> list[list[str]]:
        hosts = range(of.num_hosts)
        return [
            [of.links.in_ports[link] for link in of.routes.route(src, dst)]
            for src in hosts
            for dst in hosts
        ]

    assert ways(made) == ways(imported)


def test_pair_has_the_rate_of_the_slowest_link_on_its_route(tmp_path: Path) -> None:
    drawn = draw_topology(Scenario.load(written(tmp_path, TORUS)))

    shaped_Bps = drawn.shaped_Bps()

    # Hosts 2 r and 2 r + 1 are on router r; Z runs fastest.
    assert shaped_Bps[0, 1] == 100e6  # one router
    assert shaped_Bps[0, 2] == 50e6  # along Z
    assert shaped_Bps[0, 4] == 20e6  # along Y
    assert shaped_Bps[0, 8] == 30e6  # along X
    assert drawn.links(0, 8) == ["h0.out", "0,0,0 X+", "h8.in"]


def test_interfaces_of_a_torus_have_their_own_rate(tmp_path: Path) -> None:
    torus = draw_topology(Scenario.load(written(tmp_path, TORUS))).torus

    assert torus is not None and torus.nic_Bps is not None
    assert torus.nic_Bps.tolist() == [100e6] * 24


def test_torus_survives_the_way_to_a_client(tmp_path: Path) -> None:
    drawn = draw_topology(Scenario.load(written(tmp_path, TORUS)))

    again = Topology.from_json(drawn.to_json())

    np.testing.assert_array_equal(again.shaped_Bps(), drawn.shaped_Bps())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("hosts = 24", "hosts = 20", "torus: 20 hosts cannot be shared out evenly on 12 routers"),
        ("[3, 2, 2]", "[3, 2]", "links: 3 rates for 2 dimensions"),
        ("[3, 2, 2]", "[3, 2, 0]", "sizes: expected 1 to 32 routers"),
        ("[torus]", '[racks]\ncount = 2\nuplink = "1MB/s"\n[torus]', "has neither racks nor"),
    ],
)
def test_torus_that_cannot_be_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Scenario.load(written(tmp_path, TORUS.replace(old, new)))
