# SPDX-License-Identifier: Apache-2.0
"""Large libraries are loaded when they are used, and not for help or an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Runs the command line, and prints which of the large modules have been run by its end.
PROGRAM = """
import sys
from fairlead.cli import main
sys.argv = ["fairlead", *sys.argv[1:]]
try:
    main()
finally:
    names = ["scipy._lib", "scipy.sparse._csr", "scipy.special._ufuncs", "plotly", "fastapi",
             "uvicorn", "numpy"]
    print("loaded:", *(name for name in names if name in sys.modules), file=sys.stderr)
"""


def loaded_by(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    _, found, names = done.stderr.rpartition("loaded:")
    assert found, done.stderr
    return set(names.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_list_of_commands_needs_no_large_module(arguments: list[str]) -> None:
    assert loaded_by(*arguments) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--help"],
        ["run", "--hostfile", "/gone", "-n", "2", "--", "true"],
        ["run", "-H", "h0:x", "-n", "2", "--", "true"],
        ["map", "--help"],
        ["oracle", "--help"],
    ],
)
def test_an_early_error_loads_neither_scipy_nor_what_pages_and_services_need(
    arguments: list[str],
) -> None:
    assert loaded_by(*arguments) <= {"numpy"}


def test_what_is_late_is_what_it_would_have_been() -> None:
    program = """
from fairlead.cli.late_imports import import_late
import_late()
import sys
import scipy.sparse as sp
import scipy.special
import scipy.sparse.csgraph
import scipy.cluster.hierarchy
import scipy.spatial.distance
assert "scipy._lib" not in sys.modules
assert sp.csr_array([[0, 2], [0, 0]]).sum() == 2
assert scipy.special.gammaln(1) == 0
assert scipy.sparse.csgraph.shortest_path(sp.csr_array([[0, 1], [1, 0]]))[0, 1] == 1
assert scipy.cluster.hierarchy.linkage([[0.0], [1.0]])[0, 2] == 1
assert scipy.spatial.distance.squareform([1.0])[0, 1] == 1
from scipy import stats
import scipy.sparse.linalg
from scipy.sparse import csgraph, linalg
assert stats.norm.cdf(0) == 0.5
assert sp is sys.modules["scipy.sparse"] and isinstance(csgraph.laplacian(sp.eye_array(2)), object)
import pickle
assert pickle.loads(pickle.dumps(sp.csr_array([[1]]))).sum() == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_threads_that_use_it_first_at_the_same_time_get_the_whole() -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
from fairlead.cli.late_imports import import_late
import_late()
import scipy.sparse as sp
with ThreadPoolExecutor(8) as pool:
    sums = list(pool.map(lambda number: sp.csr_array([[number]]).sum(), range(8)))
assert sums == list(range(8))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_module_is_missing(tmp_path: Path) -> None:
    program = """
from fairlead.cli.late_imports import import_late
import_late()
import scipy.sparse
try:
    scipy.sparse.no_such_thing
except AttributeError as error:
    assert "no_such_thing" in str(error)
else:
    raise SystemExit(1)
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
