# SPDX-License-Identifier: Apache-2.0
"""The public CI services run the same jobs, and scripts/ci has all of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def github_jobs() -> set[tuple[str, str]]:
    """Each job with its image."""
    matrix = read(".github/workflows/ci.yml")["jobs"]["job"]["strategy"]["matrix"]
    more = {(row["job"], row["image"]) for row in matrix["include"]}
    return {*product(matrix["job"], matrix["image"]), *more}


def gitlab_jobs() -> set[tuple[str, str]]:
    rows = read(".gitlab-ci.yml")["job"]["parallel"]["matrix"]
    return {pair for row in rows for pair in product(listed(row["JOB"]), listed(row["IMAGE"]))}


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def documented_jobs() -> Iterator[str]:
    """Those of the script's help, with each combination of its alternatives."""
    shown = subprocess.run(
        [ROOT / "scripts" / "ci", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for line in re.findall(r"^ +scripts/ci (.+)$", shown, re.MULTILINE):
        yield from map(" ".join, product(*(word.split("|") for word in line.split())))


def test_both_services_run_every_job_of_the_script() -> None:
    assert github_jobs() == gitlab_jobs()
    assert {job for job, _ in github_jobs()} == {*documented_jobs()}


def test_every_python_of_the_classifiers_is_tried() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    classified = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', pyproject)
    tried = [image for job, image in github_jobs() if job == "python"]
    assert sorted(tried) == sorted(f"python:{version}-bookworm" for version in classified)


@pytest.mark.parametrize("words", [["other"], ["mpi", "icc", "mpich-4"], ["mpi", "gcc", "lam"]])
def test_a_job_that_there_is_not_is_named(words: list[str]) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "ci", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "see --help" in done.stderr
