# SPDX-License-Identifier: Apache-2.0
"""A job of `fairlead run` in one string."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.cli.job_text import parse_job
from fairlead.errors import InputError
from fairlead.flows.run_jobs import JobEntry


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-n 4 ./cg", JobEntry(("./cg",), 4)),
        ("-np 4 -- ./cg --size 'a b'", JobEntry(("./cg", "--size", "a b"), 4)),
        ("--np=16 cg -n 3", JobEntry(("cg", "-n", "3"), 16)),
        ("--name a -n 2 --traffic=t.npz cg", JobEntry(("cg",), 2, Path("t.npz"), "a")),
    ],
)
def test_text_is_split_as_a_shell_would(text: str, expected: JobEntry) -> None:
    assert parse_job(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is no program"),
        ("-n 4", "there is no program"),
        ("./cg", "-n must be a whole number of at least 2, got None"),
        ("-n 1 ./cg", "-n must be a whole number of at least 2, got '1'"),
        ("-n four ./cg", "-n must be a whole number of at least 2, got 'four'"),
        ("-n 4 -n 4 ./cg", "-n is given twice"),
        ("-n", "-n needs a value"),
        ("-n 4 --hostfile h ./cg", "unknown option '--hostfile'"),
        ("mpirun -n 4 ./cg", "leave out 'mpirun'"),
        ("-n 4 --name ../x ./cg", "--name '../x': letters"),
        ("-n 4 './cg", "No closing quotation"),
    ],
)
def test_other_text_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_job(text)

    assert problem in str(caught.value)
    assert "expected '-n N [--traffic FILE] [--name NAME] PROGRAM ARGS'" in str(caught.value)
