# SPDX-License-Identifier: Apache-2.0
"""bench/oracle's machine is the one of ORACLE's text; its routes, and its simulation by hand."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "bench" / "oracle"))

from flows import Flows, Streams, compiled_flows
from paper_machine import (
    APPLICATION,
    FACE_BYTES,
    NUM_NODES,
    PAIRS,
    SIZES,
    host_of_rank,
    machine,
    messages_between,
    name_of,
    router_of,
    sent_by_tasks,
    task_coordinates,
)

from fairlead.measure.topologies.gemini import NIC_BPS

TOPOLOGY = machine()


def by_rule(src: int, dst: int) -> list[str]:
    """Ports that a message leaves by, one step after the other as section II puts it.

    X, then Y, then Z; the shorter way; where both are as long, + to an even coordinate and - to an
    odd one. Between the two routers of a line there is one cable, so no other way, as the paper's
    example has it: it goes by X+ and Y+ to the odd coordinates 1.
    """
    at, end = list(router_of(src)), router_of(dst)
    ports = []
    for axis, size in enumerate(SIZES):
        while at[axis] != end[axis]:
            up, down = (end[axis] - at[axis]) % size, (at[axis] - end[axis]) % size
            if size == 2:
                step = 1 if end[axis] > at[axis] else -1
            elif up == down:
                step = 1 if end[axis] % 2 == 0 else -1
            else:
                step = 1 if up < down else -1
            ports.append(f"{at[0]},{at[1]},{at[2]} {'XYZ'[axis]}{'+' if step > 0 else '-'}")
            at[axis] = (at[axis] + step) % size
    return ports


@pytest.mark.parametrize(
    ("node", "router"),
    [
        (12, (0, 0, 6)),  # section II, the example's start
        (38, (1, 1, 3)),  # its end
        (62, (1, 0, 0)),  # front lower left of figure 1
        (63, (1, 0, 0)),
        (16, (0, 1, 7)),  # figure 1
        (17, (0, 1, 7)),
        (50, (1, 0, 6)),  # section III-B
    ],
)
def test_nodes_are_at_the_routers_that_the_paper_prints(
    node: int, router: tuple[int, int, int]
) -> None:
    assert router_of(node) == router


def test_two_nodes_share_each_router() -> None:
    routers = Counter(router_of(node) for node in range(NUM_NODES))

    assert len(routers) == 32
    assert set(routers.values()) == {2}


def test_route_of_the_paper_is_taken() -> None:
    links = TOPOLOGY.route("nid00012", "nid00038")

    assert [TOPOLOGY.links.out_ports[link] for link in links] == [
        "0,0,6 X+",
        "1,0,6 Y+",
        "1,1,6 Z-",
        "1,1,5 Z-",
        "1,1,4 Z-",
    ]
    # What the first hop carries is counted at its end, nid00050's router, as X- (section III-B).
    assert TOPOLOGY.links.in_ports[links[0]] == "1,0,6 X-"


def test_all_routes_of_the_machine_are_those_of_the_rule() -> None:
    for src, dst in np.ndindex(NUM_NODES, NUM_NODES):
        found = TOPOLOGY.route(name_of(src), name_of(dst))

        assert [TOPOLOGY.links.out_ports[link] for link in found] == by_rule(src, dst), (src, dst)


def test_tie_goes_plus_to_an_even_coordinate_and_minus_to_an_odd_one() -> None:
    # In Z four routers lie between either way: 0,0,1 to 0,0,5, and 0,0,2 to 0,0,6.
    odd, even = TOPOLOGY.route("nid00002", "nid00010"), TOPOLOGY.route("nid00004", "nid00012")

    assert [TOPOLOGY.links.out_ports[link] for link in odd] == [
        "0,0,1 Z-",
        "0,0,0 Z-",
        "0,0,7 Z-",
        "0,0,6 Z-",
    ]
    assert [TOPOLOGY.links.out_ports[link] for link in even] == [
        f"0,0,{z} Z+" for z in (2, 3, 4, 5)
    ]


def test_hops_of_the_256_routes_are_distributed_as_the_rule_has_them() -> None:
    hops = Counter(len(by_rule(src, dst)) for src in APPLICATION for dst in APPLICATION)
    at = TOPOLOGY.indices([name_of(node) for node in APPLICATION])

    hops_of_pair = TOPOLOGY.hops()(*np.broadcast_arrays(at[:, None], at[None, :]))

    assert Counter(hops_of_pair.ravel().astype(int).tolist()) == hops
    assert [hops[number] for number in range(7)] == [26, 42, 54, 78, 46, 8, 2]


def test_streams_meet_on_the_links_that_the_paper_names() -> None:
    crossing = Counter(
        port for a, b in PAIRS for src, dst in ((a, b), (b, a)) for port in by_rule(src, dst)
    )

    assert crossing["1,1,6 Z-"] == 3  # into the port Z+ of 1,1,5, the fullest link
    assert crossing["1,1,7 Z-"] == crossing["1,1,5 Z-"] == 2
    assert crossing["1,0,6 Y+"] == crossing["1,0,7 Y+"] == 1  # those that stall most
    assert max(crossing.values()) == 3


def test_program_is_a_cube_of_64_tasks_with_faces_of_20_kb() -> None:
    sent = sent_by_tasks()

    assert len(sent) == 2 * 3 * 4 * 4 * 3  # both ways, 3 dimensions, 16 lines of 3 neighbours
    assert {size for *_, size in sent} == {20_000.0} == {FACE_BYTES}
    assert task_coordinates()[0] == [2.0, 2.0, 2.0]
    assert task_coordinates()[-1] == [17.0, 17.0, 17.0]
    assert len(host_of_rank()) == 64
    assert host_of_rank()[3:5] == ["nid00017", "nid00018"]


@pytest.fixture(scope="module")
def flows() -> Iterator[Flows]:
    try:
        with compiled_flows(TOPOLOGY) as made:
            yield made
    except subprocess.CalledProcessError as error:
        pytest.fail(f"flows.cpp does not compile: {error}")


def test_messages_of_a_quiet_product_wait_for_the_interface(flows: Flows) -> None:
    # Ranks 4k to 4k + 3 are a line in the cube; a line inside has 4 neighbouring lines, to which
    # its node sends 16 faces by an interface of 6 GB/s.
    run = flows.products(messages_between(host_of_rank()), None, 1, 1e-3, 0)

    assert run.seconds == pytest.approx(1e-3 + 16 * FACE_BYTES / NIC_BPS)


def test_stream_counts_for_as_many_messages_as_its_share(flows: Flows) -> None:
    # nid00048 streams to nid00042 over its link in Y of 4.6875 GB/s without a pause. A message
    # that crosses the same link alone has a part of share + 1.
    link_Bps = 4.6875e9

    run = flows.products({("nid00049", "nid00043"): 1}, Streams(share=3, gap_s=0.0), 1, 0.0, 0)

    assert run.seconds == pytest.approx(FACE_BYTES / (link_Bps / 4))


def test_stream_with_pauses_fills_its_link_for_a_part_of_the_time(flows: Flows) -> None:
    # 1 MiB at 4.6875 GB/s, then as long a pause on average.
    run = flows.streams_alone(Streams(share=1, gap_s=2**20 / 4.6875e9), 2.0, 0)

    link = TOPOLOGY.links.out_ports.index("1,0,6 Y+")
    assert run.full_s[link] / run.seconds == pytest.approx(0.5, abs=0.02)
    assert run.carried_bytes[link] / run.seconds == pytest.approx(0.5 * 4.6875e9, rel=0.04)
