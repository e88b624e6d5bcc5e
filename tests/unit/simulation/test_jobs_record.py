# SPDX-License-Identifier: Apache-2.0
"""Placements of several jobs as files: what was written comes back, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.jobs import MappedJobs, SharedHosts, map_jobs
from fairlead.simulation import JobsRecord, read_jobs_placement


@pytest.fixture
def mapped() -> MappedJobs:
    """Two rings of three on hosts of four, two and three slots, one of them taken."""
    sends = np.roll(np.eye(3), 1, axis=1)
    job = fl.Job.from_traffic(fl.Traffic(sends * 1e6, sends * 10), 1.0, "ring")
    hosts = SharedHosts.of(fl.Cluster(("h0", "h1", "h2"), (4, 2, 3)), {"h0": [1]})
    return map_jobs([job, job], hosts, "cyclic")


def test_record_reads_back_what_was_written(mapped: MappedJobs, tmp_path: Path) -> None:
    mapped.save(tmp_path)

    record = JobsRecord.load(tmp_path / "jobs.json")

    assert (record.method, record.hosts, record.taken) == (
        "cyclic",
        ("h0", "h1", "h2"),
        {"h0": (1,)},
    )
    assert [job.name for job in record.jobs] == ["ring", "ring-2"]
    assert [placement.host_names() for placement in record.placements()] == [
        placement.host_names() for placement in mapped.placements
    ]
    assert record.prediction.waiting_time_s == mapped.prediction.waiting_time_s
    assert record.prediction.machine == mapped.hosts.machine


def test_record_gives_the_same_simulation(mapped: MappedJobs, tmp_path: Path) -> None:
    mapped.save(tmp_path)

    placement = read_jobs_placement(tmp_path / "jobs.json", fl.Machine())

    assert placement.method == str(tmp_path / "jobs.json")
    again = fl.simulate(mapped.workload, placement)
    assert again.jobs == mapped.prediction.jobs


def test_list_of_cores_is_a_placement_on_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("[[0, 5], [16, 17, 18]]")

    placement = read_jobs_placement(file, fl.Machine())

    assert [cores.tolist() for cores in placement.core_of_rank] == [[0, 5], [16, 17, 18]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[0, 1], [1]]", "core 1 has more than one rank"),
        ("[[0, 256]]", "job 0: rank 1: core 256 is taken or not in the machine"),
        ("[[0, -1]]", "core -1 is taken or not in the machine"),
        ("[[0, 1.5]]", r"\[0\]\[1\]: Input should be a valid integer"),
        ("[0, 1]", r"\[0\]: Input should be a valid (list|array)"),
        ("[[0, 1", "damaged or truncated JSON"),
        ("{}", "kind: Field required"),
    ],
)
def test_file_that_is_no_placement_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(text)

    with pytest.raises(fl.InputError, match=said) as caught:
        read_jobs_placement(file, fl.Machine())
    assert str(file) in str(caught.value)


def test_missing_file_is_refused() -> None:
    with pytest.raises(fl.InputError, match=r"gone\.json: no such file"):
        read_jobs_placement("gone.json", fl.Machine())


def changed(record: dict[str, Any], path: str, value: Any) -> None:
    *parents, field = [int(part) if part.isdecimal() else part for part in path.split(".")]
    for parent in parents:
        record = record[parent]
    record[field] = value


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("kind", "placement", "kind: Input should be 'jobs-placement'"),
        ("version", 2, "version: Input should be 1"),
        ("jobs", [], "jobs: Tuple should have at least 1 item"),
        ("jobs.0.num_ranks", 4, "job 'ring': a host and a core for each rank are needed"),
        ("jobs.0.host_of_rank", [0, 1, 3], "rank 2 is on host 3, but there are 3 hosts"),
        ("jobs.1.core_of_rank.2", [0, 4], r"job 'ring-2': rank 2: there is no core \(0, 4\)"),
        ("jobs.0.core_of_rank.0", [0, 1], "job 0: rank 0: core 1 is taken"),
        ("prediction.jobs", [], "prediction: 0 jobs, not 2"),
        ("prediction.machine.cores", 0, "cores: must be from 1"),
        ("prediction.waiting_time_s", "much", "prediction.waiting_time_s: Input should be"),
    ],
)
def test_record_with_an_impossible_value_is_refused(
    mapped: MappedJobs, tmp_path: Path, field: str, value: object, said: str
) -> None:
    record = json.loads(json.dumps(mapped.as_dict()))
    changed(record, field, value)
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps(record))

    with pytest.raises(fl.InputError, match=said) as caught:
        JobsRecord.load(file)
    assert str(caught.value).startswith(f"{file}: ")
