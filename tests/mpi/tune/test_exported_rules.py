# SPDX-License-Identifier: Apache-2.0
"""The real libraries accept exported tuning files, and follow them."""

from __future__ import annotations

import collections
import itertools
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from launchers import MPIS, LocalMpi
from tracing import compiled

from fairlead.act import mpi_builds
from fairlead.act.launch import detect
from fairlead.act.tuning_files import TUNING_FILES, NativeRule
from fairlead.act.tuning_files.openmpi import ALGORITHMS

pytestmark = [pytest.mark.mpi]

PROGRAMS = Path(__file__).parents[1] / "programs"
RULES = [NativeRule("bcast", "basic_linear", 1000, 1999)]
NUM_RANKS = 8


def program(mpicc: str, name: str = "broadcasts") -> Path:
    return compiled([mpicc], [PROGRAMS / f"{name}.c"])


@pytest.fixture(params=["openmpi-4", "openmpi-5"])
def open_mpi(request: pytest.FixtureRequest) -> LocalMpi:
    return MPIS[request.param]


def sent(
    mpi: LocalMpi, folder: Path, built: Path, num_ranks: int, size: int, settings: Mapping[str, str]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Bytes and messages from each rank to each inside operations, as Open MPI counts them."""
    record = Path(tempfile.mkdtemp(dir=folder))
    options = {
        "mpi_yield_when_idle": "1",
        "pml_monitoring_enable": "2",
        # A file for each rank: what ranks print is mixed.
        "pml_monitoring_enable_output": "3",
        "pml_monitoring_filename": str(record / "sent"),
        "coll_tuned_use_dynamic_rules": "1",
        **settings,
    }
    arguments = [word for item in options.items() for word in ("--mca", *item)]
    mpirun = [mpi.mpirun, "--map-by", ":oversubscribe", "-n", str(num_ranks)]
    subprocess.run([*mpirun, *arguments, built, str(size)], capture_output=True, check=True)
    files = sorted(record.iterdir())
    assert len(files) == num_ranks
    text = "".join(file.read_text() for file in files)
    rows = re.findall(r"^I\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs", text, re.MULTILINE)
    return {
        (int(src), int(dst)): (int(num_bytes), int(messages))
        for src, dst, num_bytes, messages in rows
    }


def sent_by_root(mpi: LocalMpi, folder: Path, built: Path, size: int) -> list[int]:
    """Ranks to which rank 0 sends inside a broadcast."""
    rules = {"coll_tuned_dynamic_rules_filename": str(folder / "rules.conf")}
    amounts = sent(mpi, folder, built, 4, size, rules)
    # A barrier's messages are empty.
    return sorted(dst for (src, dst), (num_bytes, _) in amounts.items() if src == 0 < num_bytes)


def test_open_mpi_sends_as_the_rules_say(open_mpi: LocalMpi, tmp_path: Path) -> None:
    built = program(open_mpi.mpicc)
    (tmp_path / "rules.conf").write_text(TUNING_FILES["ompi"].render(RULES, 4, built))

    # From the root to all, where Open MPI's own decision is a binomial tree.
    assert sent_by_root(open_mpi, tmp_path, built, 1500) == [1, 2, 3]
    assert sent_by_root(open_mpi, tmp_path, built, 999) == [1, 2]


@pytest.mark.parametrize("turn", range(max(len(names) for names in ALGORITHMS.values())))
def test_open_mpi_has_the_same_name_for_each_exported_number(
    open_mpi: LocalMpi, tmp_path: Path, turn: int
) -> None:
    size = 200_000  # more than two segments
    ompi = TUNING_FILES["ompi"]
    algorithms = {name: ompi.algorithms(name, NUM_RANKS, size) for name in ALGORITHMS}
    chosen = {name: known[turn] for name, known in algorithms.items() if turn < len(known)}
    built = program(open_mpi.mpicc, "collectives_once")
    # Algorithms that are made of other operations call these with messages of other sizes.
    rules = [NativeRule(*choice, 0, 100 * size) for choice in chosen.items()]
    file = tmp_path / "rules.conf"
    file.write_text(ompi.render(rules, NUM_RANKS, built))

    named = collections.ChainMap(*itertools.starmap(ompi.settings, chosen.items()))

    by_number, by_name, by_default = (
        sent(open_mpi, tmp_path, built, NUM_RANKS, size, settings)
        for settings in ({"coll_tuned_dynamic_rules_filename": str(file)}, named, {})
    )

    assert by_number == by_name
    assert by_number != by_default


@pytest.mark.parametrize(
    ("algorithm", "is_known"), [("scatter_ring_allgather", True), ("x", False)]
)
def test_mpich_takes_the_selection_and_knows_its_names(
    tmp_path: Path, algorithm: str, is_known: bool
) -> None:
    mpi = MPIS["mpich-4"]
    library = mpi_builds.find(detect(mpi.mpirun)).tune
    built = program(mpi.mpicc)
    selection = tmp_path / "selection.json"
    rules = [NativeRule("bcast", algorithm, 1000, 1999)]
    selection.write_text(TUNING_FILES["mpich"].render(rules, 4, library))

    done = subprocess.run(
        [
            *(mpi.mpirun, "-genv", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", selection),
            *("-n", "4", built, "1500"),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode == 0) == is_known
    assert ("unrecognized key algorithm=MPIR_Bcast_intra_x" in done.stderr) != is_known


def received_by_root(folder: Path, built: Path, size: int, *settings: str) -> int:
    """Bytes that come to rank 0 in ten broadcasts, each rank as on a host of its own."""
    over_tcp = ["-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "UCX_TLS", "tcp,self"]
    # Its launcher complains of processes that end without MPI_Finalize, now and then.
    done = subprocess.run(
        [MPIS["mpich-4"].mpirun, *over_tcp, *settings, "-n", "4", built, str(size), "no end"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    return int(re.findall(r"^received (\d+)$", done.stdout, re.MULTILINE)[0])


def test_mpich_sends_as_the_selection_says(tmp_path: Path) -> None:
    mpi = MPIS["mpich-4"]
    built = program(mpi.mpicc)
    rules = [NativeRule("bcast", "scatter_ring_allgather", 50_000, 200_000)]
    library = mpi_builds.find(detect(mpi.mpirun)).tune
    (tmp_path / "selection.json").write_text(TUNING_FILES["mpich"].render(rules, 4, library))
    selected = ("-genv", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "selection.json")

    # In the ring three quarters of a message come back to the root; on four ranks MPICH's own
    # decision is a binomial tree, in which nothing does.
    assert received_by_root(tmp_path, built, 100_000, *selected) > 10 * 75_000
    assert received_by_root(tmp_path, built, 100_000) < 100_000
    assert received_by_root(tmp_path, built, 40_000, *selected) < 100_000
