# SPDX-License-Identifier: Apache-2.0
"""The table of calls, the library's symbols, its wrappers' arguments and the docs page agree."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from tracing import MPIS, TracedMpi, compiled

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find

pytestmark = [pytest.mark.mpi]

ROOT = Path(__file__).parents[3]
INTERCEPT = ROOT / "mpi" / "intercept"
CORE = ROOT / "core"
FLAGS = [
    "-std=c++20", "-pthread", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
    f"-I{INTERCEPT}", f"-I{INTERCEPT.parent}", f"-I{CORE / 'include'}",
]  # fmt: skip


def load_generator() -> ModuleType:
    path = ROOT / "docs" / "reference" / "make_traced_calls.py"
    spec = importlib.util.spec_from_file_location("make_traced_calls", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = load_generator()


def test_the_docs_pages_are_the_table() -> None:
    pages = generator.pages()

    assert {page: page.read_text(encoding="utf-8") for page in pages} == pages


def test_the_library_shows_the_rows_and_nothing_else(mpi: TracedMpi) -> None:
    names = [row.name for row in generator.rows(mpi.has_mpi4_requests, mpi.has_large_counts)]
    expected = {prefix + name for name in names for prefix in ("MPI_", "PMPI_")}
    library = find(detect(mpi.mpirun)).intercept

    shown = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", library],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert {line.split(" ")[0] for line in shown.stdout.splitlines()} == expected
    assert len(names) == len(set(names))


def test_the_library_needs_no_mpi_and_no_cxx_library(mpi: TracedMpi) -> None:
    library = find(detect(mpi.mpirun)).intercept

    header = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True)

    needed = [line.split("[")[1].split(".so")[0] for line in header.stdout.splitlines()
              if "(NEEDED)" in line]  # fmt: skip
    assert set(needed) <= {"libc", "libgcc_s", "libm", "libdl", "libpthread", "ld-linux-x86-64"}


def build_over(mpi: TracedMpi, main: str, *units: str) -> Path:
    """A program of tests/mpi/intercept with some of the library's own files, without its MPI."""
    folder = Path(__file__).parent
    sources = [folder / main, *(INTERCEPT / unit for unit in units)]
    command = [mpi.compilers[".cpp"], *FLAGS]
    folders = (INTERCEPT.parent, CORE)
    headers = [path for folder in folders for path in sorted(folder.rglob("*.hpp"))]
    headers += sorted(INTERCEPT.rglob("*.def"))
    return compiled(command, sources, depends_on=headers)


def test_every_entry_hands_its_arguments_on_in_order(mpi: TracedMpi) -> None:
    program = build_over(
        mpi, "argument_order.cpp", "entries.cpp", "wrappers.cpp", "pmpi/nesting.cpp",
        "table/call_names.cpp", "trace/counters.cpp", "trace/recorder.cpp",
        "handles/communicator.cpp", "handles/window.cpp",
    )  # fmt: skip

    done = subprocess.run([program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    num_entries = sum(
        row.kind != "lifecycle"
        for row in generator.rows(mpi.has_mpi4_requests, mpi.has_large_counts)
    )
    assert done.stdout == f"{num_entries} entries\n"


@pytest.mark.parametrize(
    ("call", "compiles"), [("Scan", True), ("Bcast", False), ("Cart_create", False)]
)
def test_a_call_that_two_features_claim_does_not_compile(call: str, compiles: bool) -> None:
    source = Path(__file__).parent / "claims.cpp"
    command = [MPIS["openmpi-4"].compilers[".cpp"], *FLAGS, f"-DCLAIMED={call}"]

    done = subprocess.run(
        [*command, "-fsyntax-only", source], capture_output=True, text=True, check=False
    )

    assert (done.returncode == 0) == compiles, done.stderr
    assert compiles or "redefinition of" in done.stderr
