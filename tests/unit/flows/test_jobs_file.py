# SPDX-License-Identifier: Apache-2.0
"""The TOML file of `fairlead jobs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.errors import InputError
from fairlead.flows.jobs.jobs_file import JobEntry, read_jobs_file


def written(folder: Path, *jobs: str) -> Path:
    path = folder / "jobs.toml"
    path.write_text("".join(f"[[jobs]]\n{job}\n" for job in jobs))
    return path


def test_jobs_come_in_order_and_files_are_next_to_the_toml_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "program = \"./cg --size 'a b'\"\nranks = 4",
        'program = "cg -n 3"\nranks = 16\ntraffic = "cg.traffic.npz"\nname = "second"',
    )

    first, second = read_jobs_file(path, "program")

    assert (first.program, first.ranks, first.traffic) == (("./cg", "--size", "a b"), 4, None)
    assert (second.program, second.ranks) == (("cg", "-n", "3"), 16)
    assert second.traffic == tmp_path / "cg.traffic.npz"


@pytest.mark.parametrize(
    ("job", "title"),
    [
        (JobEntry(traffic=Path("a/cg.traffic.npz")), "cg"),
        (JobEntry(program="/bin/cg -v", ranks=2, traffic=Path("a.traffic.npz")), "cg"),
        (JobEntry(program="/bin/cg -v", ranks=2, name="solver"), "solver"),
    ],
)
def test_a_job_without_a_name_is_called_after_its_program_or_file(
    job: JobEntry, title: str
) -> None:
    assert job.title == title


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        ("", "jobs[1]: needs a program, a traffic, or both"),
        ('program = "./cg"', "jobs[1]: ranks is missing"),
        ('program = "./cg"\nranks = 1', "jobs[1].ranks: Input should be greater than or equal to"),
        ('program = "./cg"\nranks = "4"', "jobs[1].ranks: Input should be a valid integer"),
        ('program = ""\nranks = 4', "jobs[1].program: names no program"),
        ("program = 3\nranks = 4", "jobs[1].program: expected text such as './solver input.dat'"),
        ('program = "\'./cg"\nranks = 4', "jobs[1].program: No closing quotation"),
        ('program = "mpirun -n 4 ./cg"\nranks = 4', "jobs[1].program: leave out 'mpirun'"),
        ('program = "cg"\nranks = 4\nname = "../x"', "jobs[1].name: String should match pattern"),
        ('program = "cg"\nranks = 4\nhosts = "h0"', "jobs[1].hosts: Extra inputs"),
        ('traffic = "a.traffic.npz"', "jobs[1].program: is missing"),
    ],
)
def test_a_wrong_field_is_named_with_its_file(tmp_path: Path, job: str, problem: str) -> None:
    path = written(tmp_path, 'program = "./first"\nranks = 2', job)

    with pytest.raises(InputError) as caught:
        read_jobs_file(path, "program")

    assert str(caught.value).startswith(f"{path}: {problem}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "jobs = []", "[[job]]\n", "jobs ="])
def test_a_file_without_jobs_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs.toml").write_text(text)

    with pytest.raises(InputError, match=r"jobs\.toml: "):
        read_jobs_file(tmp_path / "jobs.toml", "program")
