# SPDX-License-Identifier: Apache-2.0
"""Topologies made with reorder=1 are placed by the plan, and are otherwise what the MPI makes.

Each rank runs in a UTS namespace whose host name is one of the plan's (programs/on-hosts.sh).
"""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tracing import MPIS, PROGRAMS, TracedMpi

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.reorder import write_reorder_plan
from fairlead.measure.trace_file import read_trace
from fairlead.model.network import Network

pytestmark = [pytest.mark.mpi]

ON_HOSTS = PROGRAMS / "on-hosts.sh"
# Two racks of two hosts. Ranks are dealt to them in an order that suits no topology.
RACKS = {"a": 0, "b": 0, "c": 1, "d": 1}
HOSTS_OF_RANKS = "a,c,b,d,c,a,d,b"


class Line(NamedTuple):
    """What one process says of one topology."""

    comm: str
    kind: str
    world_rank: int
    old_rank: int
    new_rank: int
    host: str
    facts: str

    @property
    def color(self) -> int:
        """Which of the communicators of this name."""
        return 0 if self.comm in ("world", "dup") else self.world_rank % 2


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    hosts = list(RACKS)
    rate_Bps = np.array([[1e8 if RACKS[a] == RACKS[b] else 1e7 for b in hosts] for a in hosts])
    np.fill_diagonal(rate_Bps, np.inf)
    latency_s = np.where(np.eye(4), 0.0, 5e-5)
    write_reorder_plan(folder, Network(hosts, latency_s, rate_Bps))
    return folder


def run(
    mpi: TracedMpi, num_ranks: int, *program: Path | str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a program on the invented hosts."""
    launcher = detect(mpi.mpirun)
    spec = mpi.spec(num_ranks, ON_HOSTS, HOSTS_OF_RANKS, *program, **env)
    command = launcher.prepare_command(spec, Path("/nonexistent"))
    return subprocess.run(command, capture_output=True, text=True, check=False)


def preload(mpi: TracedMpi, plan: Path | str, **more: str) -> dict[str, str]:
    library = str(find(detect(mpi.mpirun)).intercept)
    return {"LD_PRELOAD": library, "FAIRLEAD_PLAN": str(plan), **more}


def lines(done: subprocess.CompletedProcess[str]) -> list[Line]:
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split(" ", 6) for line in done.stdout.splitlines()]
    return sorted(Line(row[0], row[1], *map(int, row[2:5]), *row[5:]) for row in rows)  # type: ignore[arg-type]


def facts_of(line: Line) -> dict[str, str]:
    """Facts that two runs have in common.

    MPIs list the neighbours after MPI_Dist_graph_create in an order that varies. Open MPI 5
    copies attributes in MPI_Dist_graph_create_adjacent, which the standard keeps for MPI_Comm_dup.
    """
    facts = dict(fact.split("=", 1) for fact in line.facts.split())
    if line.kind.startswith("adjacent"):
        facts.pop("attribute")
    for names in (("in", "in_weights", "received"), ("out", "out_weights")):
        there = [name for name in names if name in facts]
        if line.kind.startswith("graph") and facts.get(names[0]):
            columns = zip(*(facts[name].split(",") for name in there), strict=True)
            rows = zip(*sorted(columns), strict=True)
            facts |= {name: ",".join(row) for name, row in zip(there, rows, strict=True)}
    return facts


def by_role(found: list[Line]) -> dict[tuple[str, str, int, int], dict[str, str]]:
    """What the process with each new rank says; processes without one are counted."""
    said = {
        (line.comm, line.kind, line.color, line.new_rank): facts_of(line)
        for line in found
        if line.new_rank >= 0
    }
    left_out = [(line.comm, line.kind, line.color) for line in found if line.new_rank < 0]
    counts = {(*key, -1): {"count": str(left_out.count(key))} for key in set(left_out)}
    return said | counts


def orders(found: list[Line]) -> list[tuple[str | int, ...]]:
    """The new rank of each process."""
    return [line[:-1] for line in found]


def kept_order(found: list[Line]) -> bool:
    return all(line.new_rank in (line.old_rank, -1) for line in found)


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_everything_but_the_order_is_as_after_reorder_0(
    mpi: TracedMpi, plan: Path, num_ranks: int
) -> None:
    program = mpi.build("reorder.c")
    native = lines(run(mpi, num_ranks, program, "0"))

    placed = run(mpi, num_ranks, program, "1", **preload(mpi, plan))

    assert placed.stderr.count("fairlead") == 0, placed.stderr
    assert by_role(lines(placed)) == by_role(native)
    assert kept_order(native)
    assert num_ranks < 5 or not kept_order(lines(placed))


def test_reorder_0_keeps_every_rank(mpi: TracedMpi, plan: Path) -> None:
    program = mpi.build("reorder.c")

    asked = lines(run(mpi, 5, program, "0", **preload(mpi, plan)))

    assert by_role(asked) == by_role(lines(run(mpi, 5, program, "0")))
    assert kept_order(asked)


def test_two_runs_place_alike(openmpi: TracedMpi, plan: Path) -> None:
    program = openmpi.build("reorder.c")
    first, second = (lines(run(openmpi, 8, program, "1", **preload(openmpi, plan)))
                     for _ in range(2))  # fmt: skip

    assert orders(first) == orders(second)


def crossing(found: list[Line], edges: dict[tuple[int, int], int]) -> int:
    """Weight of the edges between the racks."""
    rack = {line.new_rank: RACKS[line.host] for line in found}
    return sum(weight for (src, dst), weight in edges.items() if rack[src] != rack[dst])


def least_crossing(edges: dict[tuple[int, int], int]) -> int:
    """The same for the best of all ways to put eight ranks into two racks of four."""
    ways = (set(way) for way in itertools.combinations(range(8), 4))
    return min(sum(w for (a, b), w in edges.items() if (a in way) != (b in way)) for way in ways)


def of(found: list[Line], comm: str, kind: str) -> list[Line]:
    return [line for line in found if (line.comm, line.kind) == (comm, kind)]


def bytes_of_edge(found: list[Line], weighted: bool) -> dict[tuple[int, int], int]:
    """The graph that the processes see: what each sends where."""
    edges: dict[tuple[int, int], int] = {}
    for line in found:
        facts = facts_of(line)
        out = [int(word) for word in facts["out"].split(",") if word]
        weights = (
            [int(word) for word in facts["out_weights"].split(",") if word] if weighted else []
        )
        for index, dst in enumerate(out):
            edge = (line.new_rank, dst)
            edges[edge] = edges.get(edge, 0) + (weights[index] if weighted else 1)
    return edges


@pytest.fixture(scope="module")
def placed_8(openmpi: TracedMpi, plan: Path) -> list[Line]:
    return lines(run(openmpi, 8, openmpi.build("reorder.c"), "1", **preload(openmpi, plan)))


@pytest.mark.parametrize("kind", ["graph", "adjacent", "graph-unweighted", "adjacent-unweighted"])
def test_as_little_as_possible_crosses_the_slow_link(placed_8: list[Line], kind: str) -> None:
    found = of(placed_8, "world", kind)
    edges = bytes_of_edge(found, weighted="unweighted" not in kind)

    assert crossing(found, edges) == least_crossing(edges)


def test_weights_decide_which_edges_stay_inside(placed_8: list[Line]) -> None:
    found = of(placed_8, "dup", "graph")
    edges = bytes_of_edge(found, weighted=True)

    # There are 14 ways that cut fewest edges; 12 of them cut more weight than need be.
    assert crossing(found, edges) == least_crossing(edges)


def test_a_grid_is_cut_where_it_is_thinnest(placed_8: list[Line]) -> None:
    found = of(placed_8, "world", "grid")
    neighbors = {
        (place, other): 1
        for place, other in itertools.permutations(range(8), 2)
        if abs(place - other) == 2 or place // 2 == other // 2
    }

    # A grid of 4 x 2 between two racks: two edges, each both ways.
    assert crossing(found, neighbors) == 4 == least_crossing(neighbors)


def test_one_wrong_rank_is_answered_by_the_mpi(mpi: TracedMpi, plan: Path) -> None:
    program = mpi.build("reorder.c")
    native = run(mpi, 3, program, "0", "one-wrong")

    done = run(mpi, 3, program, "1", "one-wrong", **preload(mpi, plan))

    assert native.stdout.startswith("one-wrong: rank 2 refused="), native.stdout + native.stderr
    assert done.stdout == native.stdout


@pytest.mark.parametrize("binding", [1, 2, 3])
@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_fortran_reaches_it_too(name: str, binding: int, plan: Path) -> None:
    mpi = MPIS[name]
    program = mpi.build("reorder.F90", f"-DBINDING={binding}")
    native = run(mpi, 8, program, "0").stdout.splitlines()

    placed = run(mpi, 8, program, "1", **preload(mpi, plan))

    assert placed.returncode == 0, placed.stdout + placed.stderr
    lines_placed = placed.stdout.splitlines()
    assert sorted(map(without_old, lines_placed)) == sorted(map(without_old, native))
    assert len(native) == 8 * 4
    for kind in ("cart", "graph", "adjacent", "unweighted"):
        ranks = [line.split() for line in lines_placed if line.startswith(f"{kind} ")]
        assert any(words[2] != words[-1] for words in ranks), kind


def without_old(line: str) -> str:
    """What a rank says of its neighbours, those of `graph` in an order of ours (see facts_of)."""
    line = line.rsplit(" old ", 1)[0]
    if not line.startswith("graph "):
        return line
    *head, a, b, a_weight, b_weight, c, d, c_weight, d_weight = line.split()
    edges = [*sorted([(a, a_weight), (b, b_weight)]), *sorted([(c, c_weight), (d, d_weight)])]
    return f"{head} {edges}"


def test_tracing_and_reordering_do_not_disturb_one_another(
    openmpi: TracedMpi, plan: Path, tmp_path: Path, placed_8: list[Line]
) -> None:
    trace = str(tmp_path / "trace")
    env = preload(openmpi, plan, FAIRLEAD_TRACE=trace)

    found = lines(run(openmpi, 8, openmpi.build("reorder.c"), "1", **env))

    assert orders(found) == orders(placed_8)
    assert read_trace(tmp_path / "trace").num_ranks == 8


def test_graphs_are_made_whatever_collectives_came_before(mpi: TracedMpi, plan: Path) -> None:
    launcher = detect(mpi.mpirun)
    # All keep their ranks.
    words = (ON_HOSTS, "a,a,c,c", mpi.build("graph_tags.c"), "10")
    command = launcher.prepare_command(mpi.spec(4, *words, **preload(mpi, plan)), Path("/none"))

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)

    assert (done.returncode, done.stdout) == (0, "made 10 graphs\n"), done.stderr


def test_threads_may_make_topologies_at_once(openmpi: TracedMpi, plan: Path) -> None:
    program = openmpi.build("reorder_threads.cpp")

    done = run(openmpi, 4, program, **preload(openmpi, plan))

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["the same order in all threads, and another one"]


@pytest.mark.parametrize(
    ("file", "change", "problem"),
    [
        ("network.json", ('["c"', '["x"'), "host 'c' is not in the plan"),
        ("network.json", ('"hosts"', '"names"'), 'network.json: unknown field "names"'),
        ("network.json", ("0.0", "-1"), "json: latency_s[0][0]: expected a number >= 0, got -1"),
        ("network.json", ("null", '"fast"'), "bandwidth_Bps[0][0]: expected a number > 0 or null"),
        ("network.json", ("[]}\n", ""), "network.json: is no whole JSON document"),
        ("reorder.json", (": 2", ": 3"), "reorder.json: version: expected 2, got 3"),
        ("reorder.json", ("65536.0", "0"), "reorder.json: message_bytes: expected a number > 0"),
    ],
)
def test_a_plan_that_cannot_be_used_is_one_line_and_the_mpis_own_order(
    openmpi: TracedMpi, plan: Path, tmp_path: Path, file: str, change: tuple[str, str], problem: str
) -> None:
    for name in ("network.json", "reorder.json"):
        (tmp_path / name).write_text((plan / name).read_text())
    text = (tmp_path / file).read_text()
    assert change[0] in text
    (tmp_path / file).write_text(text.replace(*change, 1))

    done = run(openmpi, 3, openmpi.build("reorder.c"), "1", "grid", **preload(openmpi, tmp_path))

    assert kept_order(lines(done))
    said = [line for line in done.stderr.splitlines() if line.startswith("fairlead: ")]
    assert len(said) == 1
    assert problem in said[0]


def test_a_missing_plan_is_one_line(openmpi: TracedMpi, tmp_path: Path) -> None:
    missing = tmp_path / "missing"

    done = run(openmpi, 3, openmpi.build("reorder.c"), "1", "grid", **preload(openmpi, missing))

    assert kept_order(lines(done))
    assert done.stderr.count("fairlead: ") == 1
    assert f"{missing}/network.json: cannot be read: No such file" in done.stderr


def test_a_plan_that_does_not_ask_for_it_is_silent(
    openmpi: TracedMpi, plan: Path, tmp_path: Path
) -> None:
    (tmp_path / "network.json").write_text((plan / "network.json").read_text())

    done = run(openmpi, 3, openmpi.build("reorder.c"), "1", "grid", **preload(openmpi, tmp_path))

    assert kept_order(lines(done))
    assert "fairlead" not in done.stderr
