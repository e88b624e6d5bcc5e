# SPDX-License-Identifier: Apache-2.0
"""Jobs, the machine and their files: what is packaged, what is read, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.simulation import PATTERNS, packaged_workloads
from fairlead.simulation.recordings import load_recording, recording_names
from fairlead.simulation.workload_file import parse_message_size

JOB = """
[[jobs]]
pattern = "all_to_all"
processes = 4
message = "64KB"
rate = 100
count = 20
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "jobs.toml"
    path.write_text(text)
    return path


def test_synthetic_workloads_are_the_papers() -> None:
    def describe(name: str) -> list[tuple[int, int, float, int]]:
        return [
            (job.num_ranks, int(job.message_bytes[0]), float(job.rate_per_s[0]), len(job.src))
            for job in fl.Workload.load(name).jobs
        ]

    def four(ranks: int, size: int, rate: float) -> list[tuple[int, int, float, int]]:
        pairs = (ranks * (ranks - 1), ranks - 1, ranks - 1, ranks - 1)
        return [(ranks, size, rate, number) for number in pairs]

    assert describe("Synt_workload_1") == four(64, 64 * 1024, 100)
    assert describe("Synt_workload_2") == four(64, 2 * 1024**2, 10)
    assert describe("Synt_workload_3") == four(32, 2 * 1024**2, 10) + four(32, 64 * 1024, 10)
    assert describe("Synt_workload_4") == four(24, 2 * 1024**2, 10) + four(24, 64 * 1024, 10)


@pytest.mark.parametrize("name", packaged_workloads())
def test_every_packaged_workload_fits_its_machine(name: str) -> None:
    workload = fl.Workload.load(name)
    assert workload.machine == fl.Machine()
    assert all(np.all(job.num_messages == 2000) for job in workload.jobs) or "Real" in name


def test_there_are_eight_workloads_and_the_real_ones_name_their_benchmarks() -> None:
    assert len(packaged_workloads()) == 8
    jobs = fl.Workload.load("Real_workload_4").jobs
    assert [job.name for job in jobs] == ["sp.C.25", "cg.C.32", "ep.C.32", "mg.C.32"]


@pytest.mark.parametrize("name", recording_names())
def test_recordings_give_the_sums_of_the_index(name: str) -> None:
    recording = load_recording(name)  # which checks them
    assert recording.mop > 0
    assert recording.traffic.num_ranks == int(name.rsplit(".", 1)[1])


def test_a_recorded_job_keeps_its_bytes_and_takes_its_run_time() -> None:
    recording = load_recording("cg.C.32")
    job = fl.Job.from_traffic(recording.traffic, run_time_s=10.0, name="cg")

    to_others = recording.traffic.total.bytes.toarray()
    np.fill_diagonal(to_others, 0)
    assert np.sum(job.message_bytes * job.num_messages) == pytest.approx(to_others.sum(), rel=1e-4)
    assert job.demand_Bps.sum() == pytest.approx(to_others.sum() / 10, rel=1e-4)
    assert np.allclose(job.num_messages / job.rate_per_s, 10.0)


def test_a_message_to_itself_does_not_decide_a_jobs_class() -> None:
    messages = np.array([[1.0, 2.0], [0, 0]])
    largest = np.array([[2.0**21, 700.0], [0, 0]])
    job = fl.Job.from_traffic(fl.Traffic(largest, messages, largest), 1.0, "talks to itself")
    assert job.largest_message_bytes == 700


def test_compute_speed_sets_the_rates_of_recordings() -> None:
    slow, fast = (fl.Workload.load("Real_workload_4", compute_Mops=mops) for mops in (100, 200))
    for a, b in zip(slow.jobs, fast.jobs, strict=True):
        assert a.run_time_s == pytest.approx(2 * b.run_time_s)
        assert np.allclose(2 * a.rate_per_s, b.rate_per_s)


def test_linear_has_no_wrap_around() -> None:
    assert PATTERNS["linear"].pairs(4).tolist() == [[0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_patterns_senders_ascend(name: str) -> None:
    src, dst = PATTERNS[name].pairs(5).T
    assert np.all(np.diff(src) >= 0)  # turns of a rate per process count on it
    assert np.all(src != dst)


def test_too_many_processes_are_refused_before_their_pairs_are_made(tmp_path: Path) -> None:
    text = JOB.replace("processes = 4", "processes = 1000000")
    with pytest.raises(fl.TopologyError, match="1000004 processes do not fit on 256 free cores"):
        fl.Workload.load(written(tmp_path, JOB + text))


def test_a_rate_per_process_is_shared_by_its_receivers_in_turn() -> None:
    job = fl.Job.from_pattern(
        "bcast", 4, message_bytes=10, rate_per_s=30, num_messages=7, rate_per="process"
    )
    assert job.dst.tolist() == [1, 2, 3]
    assert job.num_messages.tolist() == [3, 2, 2]
    assert job.rate_per_s.tolist() == [10, 10, 10]
    assert job.first_s == pytest.approx([0, 1 / 30, 2 / 30])


def test_kilobytes_are_binary_and_rates_decimal(tmp_path: Path) -> None:
    path = written(tmp_path, '[machine]\nnic = "2GB/s"\nlargest_cache = "2MB"\n' + JOB)
    workload = fl.Workload.load(path)
    assert workload.jobs[0].message_bytes[0] == 65536
    assert workload.machine.nic_Bps == 2e9
    assert workload.machine.largest_cache_bytes == 2 * 2**20
    assert parse_message_size("3 GB") == 3 * 2**30
    assert parse_message_size("7B") == 7
    assert parse_message_size("1.5KiB") == parse_message_size("1.5 KB") == 1536


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1kB", "size '1kB': expected a number and one of B, KB, MB, GB, KiB, MiB, GiB"),
        ("1TB", "size '1TB': expected a number and one of"),
        ("1.5B", "size '1.5B': 1.5 bytes is not a whole number"),
    ],
)
def test_a_size_that_others_read_otherwise_is_refused(text: str, said: str) -> None:
    with pytest.raises(fl.InputError, match=said):
        parse_message_size(text)


def test_a_traffic_file_is_a_job(tmp_path: Path) -> None:
    sent = np.array([[0, 6.0], [0, 0]])
    fl.Traffic(sent * 100, sent, run_time_s=2.0).save(tmp_path / "app.traffic.npz")
    path = written(tmp_path, '[[jobs]]\ntraffic = "app.traffic.npz"\n')
    (job,) = fl.Workload.load(path).jobs
    assert (job.name, job.num_ranks, job.run_time_s) == ("app", 2, 2.0)
    assert (job.message_bytes.tolist(), job.rate_per_s.tolist()) == ([100], [3.0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (JOB.replace("all_to_all", "ring"), "jobs[0]: pattern 'ring': there are all_to_all"),
        (JOB.replace("64KB", "64kib"), "jobs[0].message: size '64kib': expected a number and one"),
        (JOB.replace("rate = 100", "rate = 0"), "job 'all_to_all': rate: must be from 1e-12 to"),
        (JOB.replace("rate = 100", "rate = -5"), "to 1e+16, got -5.0"),
        (JOB.replace("count = 20", "count = 0"), "count: must be from 1 to 1000000000000, got 0"),
        (JOB.replace("count = 20", ""), "jobs[0]: count is missing"),
        (
            JOB.replace("processes = 4", "processes = 1"),
            "processes: must be from 2 to 1048576, got 1",
        ),
        (JOB.replace("processes = 4", "processes = 257"), "257 processes do not fit on 256 free"),
        ("[machine]\ntaken = [0, 1]\nnodes = 1\nsockets = 1\n" + JOB, "on 2 free cores of 4"),
        ("[machine]\ntaken = [256]\n" + JOB, "core 256 is not one of 0 to 255"),
        ('[machine]\nnic = "1Gb"\n' + JOB, "machine.nic: rate '1Gb': expected a number and one"),
        ('[machine]\nnic = "0B/s"\n' + JOB, "machine: nic_Bps: must be from 1 to 1e+16, got 0.0"),
        ("[machine]\nnic = 5\n" + JOB, "machine.nic: expected text such as '1GB/s', got 5"),
        ("[machine]\nspeed = 5\n" + JOB, "machine.speed: Extra inputs are not permitted, got 5"),
        ('rate_per = "job"\n' + JOB, "rate_per: Input should be 'pair' or 'process', got 'job'"),
        (
            '[machine]\nnodes = "2"\n' + JOB,
            "machine.nodes: Input should be a valid integer, got '2'",
        ),
        ("[machine]\nsockets = true\n" + JOB, "machine.sockets: Input should be a valid integer"),
        (JOB.replace("rate = 100", 'rate = "100"'), "jobs[0].rate: Input should be a valid number"),
        (
            JOB.replace("count = 20", "count = 20.5"),
            "jobs[0].count: Input should be a valid integer",
        ),
        ("name = 'x'", "jobs: Field required"),
        ("jobs = []", "jobs: List should have at least 1 item"),
        ('[[jobs]]\nrecording = "cg.D.64"\n', "jobs[0]: recording 'cg.D.64': there are bt.B.25"),
        ('[[jobs]]\nrecording = "cg.C.32"\nprocesses = 16\n', "has 32 ranks, but the job 16 proc"),
        ('[[jobs]]\nrecording = "cg.C.32"\nrate = 5\n', "jobs[0]: rate belongs to a pattern"),
        (JOB + 'run_time = "2s"\n', "jobs[0]: run_time belongs to traffic"),
        ('[[jobs]]\nrecording = "cg.C.32"\nrun_time = "2s"\n', "[0]: run_time belongs to traffic"),
        ('[[jobs]]\ntraffic = "no.traffic.npz"\n', "no.traffic.npz: no such file"),
        ("[[jobs]]\nprocesses = 3\n", "jobs[0]: needs one of pattern, recording and traffic"),
        ("jobs = [", "not a readable TOML file"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_field(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(fl.InputError) as refused:
        fl.Workload.load(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_trace_of_one_rank_is_no_job(tmp_path: Path) -> None:
    to_itself = np.array([[5.0]])
    fl.Traffic(to_itself, to_itself, run_time_s=1.0).save(tmp_path / "alone.traffic.npz")
    path = written(tmp_path, '[[jobs]]\ntraffic = "alone.traffic.npz"\n')
    said = r"jobs\[0\]: job 'alone': processes: must be from 2 to 1048576, got 1"
    with pytest.raises(fl.InputError, match=said):
        fl.Workload.load(path)


def test_a_traffic_file_without_run_time_needs_one(tmp_path: Path) -> None:
    sent = np.array([[0, 6.0], [0, 0]])
    fl.Traffic(sent, sent).save(tmp_path / "app.traffic.npz")
    text = '[[jobs]]\ntraffic = "app.traffic.npz"\n'
    with pytest.raises(fl.InputError, match="holds no run time"):
        fl.Workload.load(written(tmp_path, text))
    (job,) = fl.Workload.load(written(tmp_path, text + 'run_time = "3s"\n')).jobs
    assert job.run_time_s == 3


def test_an_unknown_workload_names_those_there_are() -> None:
    with pytest.raises(fl.InputError, match="neither a file nor one of Real_workload_1"):
        fl.Workload.load("Synt_workload_9")


def test_a_machine_refuses_what_cannot_be() -> None:
    with pytest.raises(fl.InputError, match="nodes: must be from 1 to 1048576, got 0"):
        fl.Machine(nodes=0)
    with pytest.raises(fl.InputError, match=r"nic_Bps: must be from 1 to 1e\+16, got -1"):
        fl.Machine(nic_Bps=-1)
    with pytest.raises(fl.InputError, match="switch_s: must be from 0 to 1, got nan"):
        fl.Machine(switch_s=float("nan"))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"rate_per_s": 0.0}, r"rate: must be from 1e-12 to 1e\+16, got 0.0"),
        ({"rate_per_s": float("inf")}, r"rate: must be from 1e-12 to 1e\+16, got inf"),
        ({"message_bytes": 0}, "message: must be from 1 to 1125899906842624, got 0"),
        ({"num_messages": -1}, "count: must be from 1 to 1000000000000, got -1"),
        ({"num_ranks": 1}, "processes: must be from 2 to 1048576, got 1"),
        ({"rate_per": "job"}, "rate_per 'job': there are pair, process"),
    ],
)
def test_a_pattern_refuses_what_cannot_be(numbers: dict, said: str) -> None:
    given = {"num_ranks": 4, "message_bytes": 10, "rate_per_s": 1.0, "num_messages": 5, **numbers}
    with pytest.raises(fl.InputError, match=said):
        fl.Job.from_pattern("gather", **given)


MACHINE = "[machine]\n{}\n" + JOB


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            JOB.replace("64KB", "99999999999GB"),
            "jobs[0]: job 'all_to_all': message: must be from 1",
        ),
        (JOB.replace("count = 20", f"count = {10**24}"), "jobs[0]: job 'all_to_all': count: must"),
        (JOB.replace("rate = 100", "rate = 1e-320"), "jobs[0]: job 'all_to_all': rate: must be"),
        (JOB.replace("rate = 100", "rate = 1e308"), "jobs[0]: job 'all_to_all': rate: must be"),
        (MACHINE.format("nodes = 1000000000"), "machine: nodes: must be from 1 to 1048576, got 1"),
        (
            MACHINE.format("nodes = 1000000"),
            "sockets * cores: must be from 1 to 1048576, got 16000",
        ),
        (
            MACHINE.format('largest_cache = "99999999999GB"'),
            "machine: largest_cache_bytes: must be",
        ),
        (
            MACHINE.format('switch = "1000000000000d"'),
            "machine: switch_s: must be from 0 to 1, got",
        ),
        (
            MACHINE.format('nic = "1e300B/s"'),
            "machine: nic_Bps: must be from 1 to 1e+16, got 1e+300",
        ),
        (MACHINE.format("nodes = " + "9" * 5000), "not a readable TOML file"),
        (
            '[[jobs]]\ntraffic = "long.traffic.npz"\n',
            "jobs[0]: job 'long': its run time in s: must",
        ),
        ('[[jobs]]\ntraffic = "large.traffic.npz"\n', "jobs[0]: job 'large': message_bytes: must"),
    ],
)
def test_a_number_that_is_too_large_is_refused(tmp_path: Path, text: str, said: str) -> None:
    sent = np.array([[0, 6.0], [0, 0]])
    fl.Traffic(sent, sent, run_time_s=1e300).save(tmp_path / "long.traffic.npz")
    fl.Traffic(sent * 1e300, sent, run_time_s=1.0).save(tmp_path / "large.traffic.npz")
    path = written(tmp_path, text)
    with pytest.raises(fl.InputError) as refused:
        fl.Workload.load(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


def test_all_to_all_among_too_many_is_refused_by_the_api_too() -> None:
    with pytest.raises(fl.InputError, match="all_to_all: processes: must be from 2 to 8192"):
        fl.Job.from_pattern("all_to_all", 10**6, message_bytes=1, rate_per_s=1, num_messages=1)
