# SPDX-License-Identifier: Apache-2.0
"""Collectives that follow a schedule deliver what the MPI's own deliver, byte for byte.

Hypothesis draws schedules and calls; a program makes many of them at one start.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tracing import MPIS, TracedMpi, compiled

from fairlead.act.launch import detect
from fairlead.model.schedule import Schedule

pytestmark = [pytest.mark.mpi]

ROOT = Path(__file__).parents[3]
EXECUTORS = sorted((ROOT / "mpi" / "collectives").glob("*.cpp"))
OTHERS = [
    ROOT / "core" / "collectives" / "islands.cpp",
    ROOT / "core" / "collectives" / "schedule.cpp",
    ROOT / "mpi" / "json" / "value.cpp",
    ROOT / "mpi" / "intercept" / "pmpi" / "mpi_symbols.cpp",
]
HEADERS = [
    *(ROOT / "mpi" / "collectives").glob("*.hpp"),
    *(ROOT / "mpi" / "intercept" / "table").glob("*.def"),
    ROOT / "mpi" / "intercept" / "pmpi" / "mpi_symbols.hpp",
    ROOT / "mpi" / "json" / "value.hpp",
    ROOT / "tests" / "mpi" / "programs" / "collectives" / "types.hpp",
    *(ROOT / "core" / "include" / "fairlead" / "collectives").glob("*.hpp"),
]

FORMS = {
    "bcast": ("native", "levels", "forest"),
    "reduce": ("native", "levels", "forest"),
    "gather": ("native", "linear", "split_tree"),
    "scatter": ("native", "linear", "split_tree"),
    "allgather": ("native", "ring", "linear", "dissemination", "two_level"),
    "allreduce": ("native", "forest", "ring", "linear", "doubling", "two_level"),
    "reduce_scatter": ("native", "ring", "linear", "dissemination", "two_level"),
    "alltoall": ("native", "linear"),
    "barrier": ("native", "dissemination"),
}
ROOTED = ("bcast", "reduce", "gather", "scatter")
COMBINING = ("reduce", "allreduce", "reduce_scatter")


@dataclasses.dataclass(frozen=True, repr=False)
class Call:
    """A call, and the schedule it follows; the fields are those of the program's file."""

    schedule: Schedule
    comm: str
    host_of_rank: tuple[int, ...]
    root: int
    count: int
    kind: str
    is_in_place: bool
    seed: int

    def __repr__(self) -> str:
        return f"{self.schedule.operation} by {self.schedule.form}"

    def to_json(self) -> str:
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return json.dumps(own | {"schedule": json.loads(self.schedule.to_json())})


@st.composite
def trees(draw: st.DrawFn, num_hosts: int, root: int) -> tuple[int, ...]:
    """Parents of a random tree: each host hangs below one that came before it."""
    others = draw(st.permutations([host for host in range(num_hosts) if host != root]))
    hosts = [root, *others]
    parent = {root: -1}
    for place, host in enumerate(others, start=1):
        parent[host] = hosts[draw(st.integers(0, place - 1))]
    return tuple(parent[host] for host in range(num_hosts))


@st.composite
def levels(draw: st.DrawFn, num_hosts: int, root: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Groups level by level: each leader was reached before, the others are new."""
    reached, left = [root], [host for host in range(num_hosts) if host != root]
    result = []
    while left:
        groups = []
        for leader in list(reached):
            size = draw(st.integers(0, len(left)))
            groups.append((leader, *left[:size]))
            reached += left[:size]
            left = left[size:]
        result.append(tuple(groups))
    return tuple(result) or (((root,),),)


@st.composite
def islands(draw: st.DrawFn, num_hosts: int) -> tuple[tuple[int, ...], ...]:
    """Each host in one of them, in any order."""
    island_of_host = draw(st.lists(st.integers(0, 3), min_size=num_hosts, max_size=num_hosts))
    hosts = draw(st.permutations(range(num_hosts)))
    return tuple(
        tuple(host for host in hosts if island_of_host[host] == island)
        for island in sorted(set(island_of_host))
    )


@st.composite
def schedules(draw: st.DrawFn, operation: str, form: str, num_hosts: int, root: int) -> Schedule:
    """Any schedule of the operation in this form."""
    fields: dict[str, object] = {"window": draw(st.integers(1, 3))}
    if form == "forest":
        num_trees = draw(st.integers(1, 3))
        fields["trees"] = tuple(
            draw(trees(num_hosts, root if root >= 0 else draw(st.integers(0, num_hosts - 1))))
            for _ in range(num_trees)
        )
        weights = draw(st.lists(st.integers(1, 5), min_size=1, max_size=12))
        fields["share_of_segment"] = tuple(weight / sum(weights) for weight in weights)
        fields["tree_of_segment"] = tuple(draw(st.integers(0, num_trees - 1)) for _ in weights)
        fields["max_sends"] = draw(st.integers(0, 2))
    elif form == "split_tree":
        fields["trees"] = (draw(trees(num_hosts, root)),)
    elif form == "levels":
        fields["levels"] = draw(levels(num_hosts, root))
    elif form == "two_level":
        fields["levels"] = (draw(islands(num_hosts)),)
        fields["max_sends"] = draw(st.integers(0, 2))
    else:
        fields["order"] = tuple(draw(st.permutations(range(num_hosts))))
        fields["num_parts"] = draw(st.integers(1, 5)) if form == "ring" else 0
        fields["max_sends"] = draw(st.integers(0, 2)) if form == "linear" else 0
    return Schedule(
        operation=operation, form=form, method="drawn", num_hosts=num_hosts, root=root, **fields
    )  # type: ignore[arg-type]


@st.composite
def calls(draw: st.DrawFn, num_ranks: int, operation: str, form: str) -> Call:
    """Any call of the operation on some of the ranks, which are on any hosts."""
    num_members = draw(st.integers(1, num_ranks))
    num_hosts = draw(st.integers(1, num_members))
    others = [draw(st.integers(0, num_hosts - 1)) for _ in range(num_members - num_hosts)]
    host_of_rank = tuple(draw(st.permutations([*range(num_hosts), *others])))
    root = draw(st.integers(0, num_members - 1)) if operation in ROOTED else 0
    root_host = host_of_rank[root] if operation in ROOTED else -1
    kinds = (
        ("integers", "pairs", "strided", "swapped", "places", "reals")
        if operation in COMBINING
        else ("integers", "pairs", "strided", "swapped", "mixed")
    )
    return Call(
        schedule=draw(schedules(operation, form, num_hosts, root_host)),
        comm=draw(st.sampled_from(["world", "backwards"])),
        host_of_rank=host_of_rank,
        root=root,
        count=draw(st.sampled_from([0, 1, 2, 7, 100, 5000])),
        kind=draw(st.sampled_from(kinds)),
        is_in_place=draw(st.booleans()),
        seed=draw(st.integers(0, 2**20)),
    )


# Open MPI 5 follows schedules in tests/mpi/intercept/test_collectives.py.
RANKS = [*(("openmpi-4", ranks) for ranks in (1, 2, 3, 5, 8)), ("mpich-4", 3), ("mpich-4", 5)]


def program(mpi: TracedMpi) -> Path:
    flags = ["-std=c++20", "-O1", "-DFAIRLEAD_LINKED=1"]
    flags += ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]
    folders = ["core/include", "mpi", "mpi/collectives", "mpi/intercept", "tests/mpi/programs"]
    return compiled(
        [mpi.compilers[".cpp"], *flags, *(f"-I{ROOT / folder}" for folder in folders)],
        [Path(__file__).with_name("follow.cpp"), *EXECUTORS, *OTHERS, *mpi.linked_objects()],
        depends_on=HEADERS,
    )


def cases_of(calls: list[Call]) -> str:
    """The program's file."""
    return "[" + ",\n".join(call.to_json() for call in calls) + "]"


def output(mpi: TracedMpi, num_ranks: int, folder: Path, *words: Path | str) -> str:
    """What the program prints on this many ranks."""
    command = detect(mpi.mpirun).prepare_command(mpi.spec(num_ranks, *words), folder)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "num_ranks"), RANKS)
def test_a_call_by_any_schedule_delivers_what_the_native_one_does(
    name: str, num_ranks: int, tmp_path: Path
) -> None:
    mpi = MPIS[name]

    # A failing call is named by the program; to shrink it would start the program many times.
    @settings(
        max_examples=4,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def deliver_the_same(data: st.DataObject) -> None:
        drawn = [
            data.draw(calls(num_ranks, operation, form))
            for operation, forms in FORMS.items()
            for form in forms
        ]
        (tmp_path / "cases").write_text(cases_of(drawn))
        printed = output(mpi, num_ranks, tmp_path, program(mpi), "cases", tmp_path / "cases")
        differing = {int(word) for word in re.findall(r"^case (\d+)", printed, re.MULTILINE)}
        shown = printed + "".join(drawn[index].to_json() for index in sorted(differing))
        assert printed == f"compared {len(drawn)}\n", shown

    deliver_the_same()


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_ten_thousand_calls_leave_no_memory_behind(name: str, tmp_path: Path) -> None:
    mpi = MPIS[name]
    forest = Schedule(
        operation="allreduce", form="forest", method="drawn", num_hosts=2,
        trees=((-1, 0), (1, -1)), tree_of_segment=(0, 1), share_of_segment=(0.5, 0.5), window=2,
    )  # fmt: skip
    call = Call(forest, "world", (0, 1), 0, 2, "integers", False, 1)
    (tmp_path / "cases").write_text(cases_of([call]))

    printed = output(mpi, 2, tmp_path, program(mpi), "leaks", tmp_path / "cases", "10000")

    grown_bytes = int(printed.split()[1])
    assert grown_bytes < 32 * 1024, printed  # less than 4 bytes a call
