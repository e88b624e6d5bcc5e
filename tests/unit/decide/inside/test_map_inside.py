# SPDX-License-Identifier: Apache-2.0
"""Ranks are mapped inside hosts; the best answers on grids are known."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from synthetic_hosts import (
    ONE_SOCKET,
    RATES,
    TWO_SMALL_SOCKETS,
    TWO_SOCKETS,
    grid_traffic,
    num_crossing,
    synthetic_inside,
)

import fairlead as fl
from fairlead.decide.inside import (
    map_cores,
    map_inside,
    map_inside_alike,
    places_of,
    share_cores,
)
from fairlead.errors import TopologyError
from fairlead.model.host_inside import HostInside

OBJECTIVE = "bottleneck-and-mean"


def on(*ranks_of_host: int) -> fl.Placement:
    hosts = [f"h{host}" for host in range(len(ranks_of_host))]
    return fl.Placement(hosts, np.repeat(np.arange(len(hosts)), ranks_of_host))


def core_lists(placement: fl.Placement, insides: Mapping[str, HostInside]) -> list[str]:
    shares = share_cores(placement, insides)
    assert shares is not None
    return [share.cpus for share in shares]


def shuffled(lists: list[str], seed: int = 0) -> list[str]:
    return [lists[at] for at in np.random.default_rng(seed).permutation(len(lists))]


@pytest.mark.parametrize(
    ("shape", "crossing"),
    [
        # A square of 4 x 4 ranks on each L3: each cut is 8 ranks long. 4 x 16 in four pieces of
        # 4 x 4 has three cuts of 4, of which the middle one is between sockets.
        ((8, 8), [16, 8]),
        ((4, 16), [12, 4]),
    ],
)
@pytest.mark.parametrize("method", ["optimize", "scotch"])
def test_grids_on_two_sockets_are_cut_where_they_are_narrowest(
    shape: tuple[int, int], crossing: list[int], method: str
) -> None:
    inside, placement = synthetic_inside(TWO_SOCKETS), on(64)
    usual = shuffled(core_lists(placement, {"h0": inside}))
    traffic = grid_traffic(*shape)

    found = map_inside(
        places_of(placement, usual, {"h0": inside}), usual, traffic,
        method=method, objective=OBJECTIVE,
    )  # fmt: skip

    assert num_crossing(found.lists, traffic, inside.topology) == crossing
    assert sorted(found.lists) == sorted(usual)
    assert found.after_s < found.before_s


def test_small_grid_is_mapped_as_well_as_by_all_permutations() -> None:
    inside, placement = synthetic_inside(TWO_SMALL_SOCKETS), on(8)
    traffic = grid_traffic(2, 4)
    usual = shuffled(core_lists(placement, {"h0": inside}), seed=3)
    # 70 ways to choose the ranks of the first socket.
    least = min(
        num_crossing(
            tuple("0" if rank in chosen else "4" for rank in range(8)), traffic, inside.topology
        )[0]
        for chosen in itertools.combinations(range(8), 4)
    )

    found = map_inside(
        places_of(placement, usual, {"h0": inside}), usual, traffic, objective=OBJECTIVE
    )

    assert num_crossing(found.lists, traffic, inside.topology) == [least]


def test_hosts_that_differ_are_mapped_each_by_itself() -> None:
    insides = {
        "h0": synthetic_inside(TWO_SMALL_SOCKETS),
        "h1": synthetic_inside(ONE_SOCKET),
        "h2": synthetic_inside(TWO_SMALL_SOCKETS),
    }
    placement = on(8, 8, 8)
    usual = core_lists(placement, insides)
    usual[0:8] = shuffled(usual[0:8])
    traffic = grid_traffic(3, 8)

    hosts = places_of(placement, usual, insides)
    found = map_inside(hosts, usual, traffic, objective=OBJECTIVE)

    # On one socket all places are equal; a row of 8 ranks is cut once on two.
    assert [one.host for one in hosts] == ["h0", "h2"]
    assert found.lists[8:16] == tuple(usual[8:16])
    assert found.num_hosts == 1
    for first in (0, 16):
        part = grid_traffic(1, 8)
        lists = found.lists[first : first + 8]
        assert num_crossing(lists, part, insides["h0"].topology) == [1]


def test_one_list_for_all_hosts_serves_their_ranks_together() -> None:
    insides = dict.fromkeys(("h0", "h1"), synthetic_inside(TWO_SMALL_SOCKETS))
    placement = on(8, 8)
    usual = core_lists(placement, insides)
    # On the first host even ranks talk to the next even one, on the second likewise: the n-th
    # ranks of both can have the same CPUs.
    sent = np.zeros((16, 16))
    for host in (0, 8):
        for rank in range(0, 6):
            sent[host + rank, host + rank + 2] = sent[host + rank + 2, host + rank] = 1e6
    traffic = fl.Traffic(sent, sent / 1e6)

    found = map_inside_alike(
        places_of(placement, usual, insides), usual, traffic, objective=OBJECTIVE
    )

    assert found.lists[:8] == found.lists[8:]
    sockets = [int(cpus) // 4 for cpus in found.lists[:8]]
    assert sockets[0::2] == [sockets[0]] * 4
    assert sockets[1::2] == [1 - sockets[0]] * 4
    assert found.after_s < found.before_s


def test_one_list_is_refused_where_the_launchers_own_differ() -> None:
    insides = dict.fromkeys(("h0", "h1"), synthetic_inside(TWO_SMALL_SOCKETS))
    placement = on(2, 2)
    usual = ["0", "4", "1", "5"]
    with pytest.raises(TopologyError, match="one list of CPUs for all hosts, and theirs differ"):
        map_inside_alike(
            places_of(placement, usual, insides), usual, grid_traffic(4), objective=OBJECTIVE
        )


def test_memory_of_a_socket_bounds_what_its_places_send() -> None:
    wide = synthetic_inside(TWO_SMALL_SOCKETS)
    narrow = dataclasses.replace(wide, memory_Bps=(1e8, 1e8))
    placement, usual, traffic = on(4), ["0", "4", "1", "5"], grid_traffic(4)
    before_s = [
        map_inside(places_of(placement, usual, {"h0": one}), usual, traffic, objective=OBJECTIVE)
        .before_s
        for one in (wide, narrow)
    ]  # fmt: skip
    # All six messages of 1 MB touch each socket's memory once.
    assert before_s[1] - 6e6 / 1e8 < before_s[0] < before_s[1]


def test_level_that_was_not_measured_is_named() -> None:
    inside = dataclasses.replace(
        synthetic_inside(TWO_SMALL_SOCKETS), rates={"socket": RATES["socket"]}
    )
    hosts = places_of(on(2), ["0", "4"], {"h0": inside})
    with pytest.raises(TopologyError, match="h0: its level 'host' was not measured"):
        map_inside(hosts, ["0", "4"], grid_traffic(2), objective=OBJECTIVE)


def test_topology_without_the_launchers_cpus_is_of_another_host() -> None:
    inside = synthetic_inside(TWO_SMALL_SOCKETS)
    with pytest.raises(TopologyError, match="h0 has no CPU 8"):
        places_of(on(2), ["7", "8"], {"h0": inside})
    with pytest.raises(TopologyError, match="inside of h0 is not known: no hwloc"):
        places_of(on(2), ["0", "1"], {"h0": HostInside(problem="no hwloc")})


@pytest.mark.parametrize("usual", [["0-7", "0-7"], ["0-3", "0-3"]])
def test_ranks_with_the_same_cpus_have_no_places_to_exchange(usual: list[str]) -> None:
    assert places_of(on(2), usual, {"h0": synthetic_inside(TWO_SMALL_SOCKETS)}) == []


def test_ranks_share_the_cores_of_their_host_equally() -> None:
    inside = synthetic_inside(TWO_SOCKETS)
    assert core_lists(on(4), {"h0": inside}) == ["0-15", "16-31", "32-47", "48-63"]
    few = dataclasses.replace(inside, cpus="8-11,40-43")
    assert core_lists(on(4), {"h0": few}) == ["8-9", "10-11", "40-41", "42-43"]
    with pytest.raises(TopologyError, match="h0 has fewer cores than its 9 ranks"):
        share_cores(on(9), {"h0": synthetic_inside(ONE_SOCKET)})
    assert share_cores(on(8), {"h0": synthetic_inside(ONE_SOCKET)}) is None


def test_cores_have_the_numbers_of_hwloc_where_the_system_numbers_them_otherwise() -> None:
    # Even CPUs are those of the first socket, as many machines number them.
    inside = synthetic_inside("package:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)")
    shares = share_cores(on(8), {"h0": inside})
    assert shares is not None
    assert [(share.cpus, share.cores) for share in shares[3:5]] == [("6", "3"), ("1", "4")]


@pytest.mark.parametrize("is_measured", [True, False])
def test_levels_that_were_not_measured_count_by_their_number(is_measured: bool) -> None:
    inside = synthetic_inside(TWO_SOCKETS, is_measured=is_measured)
    # Rows of 16 ranks on a column of 4, in an order by which neighbours are far apart.
    order = np.arange(64).reshape(4, 16).T.ravel()
    sent = grid_traffic(4, 16).bytes.toarray()[np.ix_(order, order)]
    traffic = fl.Traffic(sent, sent / 1e6)

    shares = map_cores(
        on(64), traffic, {"h0": inside}, method="optimize", metric="bytes", objective=OBJECTIVE
    )

    assert shares is not None
    lists = tuple(share.cpus for share in shares)
    assert num_crossing(lists, traffic, inside.topology) == [12, 4]
