# SPDX-License-Identifier: Apache-2.0
"""Placement files: what is written is what is read back, and nothing else is accepted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.act.launch import FORMATS, Cores, write_placement
from fairlead.act.launch.formats import render_placement
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

GOLDEN = Path(__file__).parents[3] / "golden" / "launchers"
TWO_NODES = Cluster.uniform(("node001", "node002"), slots=64)


@st.composite
def fitting_placements(draw: st.DrawFn) -> tuple[Placement, Cluster]:
    """A placement of some ranks, and a cluster that has just as many slots as it needs or more."""
    num_hosts = draw(st.integers(1, 6))
    hosts = tuple(f"n{number}.rack-{number % 2}" for number in range(num_hosts))
    ranks = draw(st.lists(st.integers(0, num_hosts - 1), min_size=1, max_size=40))
    spare = draw(st.integers(0, 2))
    slots = tuple(max(1, ranks.count(host)) + spare for host in range(num_hosts))
    return Placement(hosts, np.array(ranks)), Cluster(hosts, slots)


# What names no hosts can be written for hosts that the launcher fills one by one.
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "cray"])
@settings(max_examples=25)  # each example waits for the disk
@given(case=fitting_placements())
def test_every_format_reads_back_the_hosts_that_were_written(
    name: str, case: tuple[Placement, Cluster], tmp_path_factory: pytest.TempPathFactory
) -> None:
    placement, cluster = case
    path = tmp_path_factory.getbasetemp() / f"roundtrip-{name}"

    write_placement(placement, cluster, name, path)

    assert FORMATS[name].parse(path.read_text(), cluster) == placement.host_names()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("rankfile", "openmpi_rankfile.txt"),
        ("seq", "slurm_hostfile_or_ompi_seq.txt"),
        ("slurm", "slurm_hostfile_or_ompi_seq.txt"),
        ("flux-hostfile", "slurm_hostfile_or_ompi_seq.txt"),
        ("mpich", "mpich_hostfile.txt"),
        ("flux", "flux_taskmap_rfc34.json"),
    ],
)
def test_sample_is_read_and_written_alike(name: str, file: str) -> None:
    sample = (GOLDEN / file).read_text()
    placement = Placement(TWO_NODES.hosts, np.array([1, 0, 0, 1]))

    assert FORMATS[name].parse(sample, TWO_NODES) == placement.host_names()
    assert render_placement(placement, TWO_NODES, name).strip() == sample.strip()


def test_order_of_ranks_by_the_vendors_own_tool_is_read_as_it_fills_nodes() -> None:
    # The sample of NERSC's page on grid_order: 64 ranks of a 4 x 4 x 4 grid, 32 on each node.
    sample = (GOLDEN / "cray_grid_order.txt").read_text()
    nodes = Cluster.uniform(("n0", "n1"), slots=32)

    host_of_rank = FORMATS["cray"].parse(sample, nodes)

    # Row-major numbers; the second line has the upper half of the middle coordinate.
    assert host_of_rank == ["n1" if rank // 4 % 4 in {2, 3} else "n0" for rank in range(64)]


@given(st.permutations(range(7)))
def test_order_of_ranks_is_written_for_full_hosts(order: list[int]) -> None:
    cluster = Cluster(("a", "b", "c"), (2, 1, 6))
    host_of_place = [0, 0, 1, 2, 2, 2, 2]
    placement = Placement(cluster.hosts, np.array([host_of_place[place] for place in order]))

    text = render_placement(placement, cluster, "cray")

    assert FORMATS["cray"].parse(text, cluster) == placement.host_names()
    assert [line for line in text.splitlines() if line.startswith("#")] == ["# a", "# b", "# c"]


def test_order_of_ranks_is_refused_where_the_launcher_fills_hosts_otherwise() -> None:
    cluster = Cluster(("a", "b"), (2, 2))
    placement = Placement(cluster.hosts, np.array([0, 1]))

    with pytest.raises(TopologyError, match=r"starts 2 of them on 'a', the placement has 1 there"):
        render_placement(placement, cluster, "cray")


def test_rankfile_covers_the_cores_that_are_given() -> None:
    placement = Placement(("a", "b"), np.array([1, 0]))
    cluster = Cluster.uniform(("a", "b"), slots=1)

    assert render_placement(placement, cluster, "rankfile") == "rank 0=b slot=0\nrank 1=a slot=0\n"
    text = render_placement(placement, cluster, "rankfile", Cores(per_host=8))
    assert text == "rank 0=b slot=0-7\nrank 1=a slot=0-7\n"


@pytest.mark.parametrize("name", ["rankfile", "rankfile5"])
def test_rankfile_binds_each_rank_to_its_socket_and_core(name: str) -> None:
    placement = Placement(("a", "b"), np.array([1, 1, 0]))
    cores = Cores(of_rank=[(0, 0), (1, 3), (0, 0)])

    text = render_placement(placement, Cluster.uniform(("a", "b"), 2), name, cores)

    assert text == "rank 0=b slot=0:0\nrank 1=b slot=1:3\nrank 2=a slot=0:0\n"


@pytest.mark.parametrize(
    ("cores", "message"),
    [
        (Cores(of_rank=[(0, 0), (0, 0)]), "ranks 0 and 1 are both bound to core 0:0 of 'a'"),
        (Cores(of_rank=[(0, 0)]), "1 cores for 2 ranks"),
        (Cores(of_rank=[(0, 0), (0, -1)]), "rank 1: socket and core must be >= 0"),
    ],
)
def test_rankfile_refuses_impossible_cores(cores: Cores, message: str) -> None:
    placement = Placement(("a",), np.array([0, 0]))

    with pytest.raises(InputError, match=message):
        render_placement(placement, Cluster(("a",), (2,)), "rankfile", cores)


def test_usage_names_the_file_and_the_number_of_ranks() -> None:
    assert FORMATS["slurm"].usage("F", 4) == "SLURM_HOSTFILE=F srun -m arbitrary -n 4 PROGRAM"
    for known in FORMATS.values():
        assert "F" in known.usage("F", 4)
        assert "4" in known.usage("F", 4)


@pytest.mark.parametrize("name", [name for name in FORMATS if not FORMATS[name].binds])
def test_cores_are_refused_where_the_format_cannot_say_them(name: str, tmp_path: Path) -> None:
    placement = Placement(("a",), np.array([0]))

    with pytest.raises(InputError, match="cannot bind ranks to cores"):
        write_placement(placement, Cluster(("a",), (1,)), name, tmp_path / "x", Cores(per_host=2))


@pytest.mark.parametrize("name", FORMATS)
def test_overfull_or_unknown_host_leaves_no_file(name: str, tmp_path: Path) -> None:
    cluster = Cluster(("a", "b"), (1, 1))

    for placement, message in (
        (Placement(("a", "b"), np.array([0, 0])), "'a' holds 2 ranks, but has 1 slots"),
        (Placement(("a", "c"), np.array([0, 1])), "'c' is not in the cluster"),
    ):
        with pytest.raises(TopologyError, match=message):
            write_placement(placement, cluster, name, tmp_path / "out")
    assert not any(tmp_path.iterdir())


def test_host_name_that_ssh_would_take_for_an_option_is_not_written(tmp_path: Path) -> None:
    cluster = Cluster(("-oProxyCommand=x",), (1,))

    with pytest.raises(TopologyError, match="not usable"):
        write_placement(Placement(cluster.hosts, np.array([0])), cluster, "seq", tmp_path / "out")


def test_unknown_format_is_named_with_those_there_are(tmp_path: Path) -> None:
    placement = Placement(("a",), np.array([0]))

    with pytest.raises(InputError, match="format 'pbs' is unknown; there are: rankfile, "):
        write_placement(placement, Cluster(("a",), (1,)), "pbs", tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rankfile", "rank 0=a\n", "1: unknown form 'rank 0=a'"),
        ("rankfile", "rank 0=a slot=*\n", "1: unknown form"),
        ("rankfile", "rank 0=a slot=p1\n", "1: unknown form"),
        ("rankfile", "rank 0=a slot=0\nrank 0=a slot=0\n", "2: rank 0 is placed twice"),
        ("rankfile", "rank 1=a slot=0\n", "rank 0 is missing"),
        ("seq", "a slots=2\n", "1: unknown form"),
        ("mpich", "a:0\n", "1: unknown form"),
        ("cray", "0,x\n", "1: unknown form '0,x'; expected ranks with commas"),
        ("cray", "0,2\n", "not each of the ranks 0 to 1 is named once"),
        ("cray", "0-999999999\n", "more than 100000000 ranks"),
        ("cray", "2-0\n", "3 ranks, but the hosts have 2 slots"),
        ("flux", "[[0,1,1]]", "block 0: expected"),
        ("flux", "[[0,1,1,true]]", "block 0: expected"),
        ("flux", "[[0,1,1,0]]", "block 0: expected"),
        ("flux", "[[0,3,1,1]]", "node 2, but the cluster has 2 hosts"),
        ("flux", "[[0,1,99999999,99999]]", "more than 100000000 tasks"),
        ("flux", "{}", "expected an array of blocks"),
        ("flux", "[[0,1", "not a task map"),
        ("flux", "[" * 100_000, "not a task map"),
        ("json", "{}", "kind: Field required"),
    ],
)
def test_damaged_text_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FORMATS[name].parse(text, Cluster(("a", "b"), (1, 1)))
