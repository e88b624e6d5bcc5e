# SPDX-License-Identifier: Apache-2.0
"""Jobs on real hosts: taken slots, hosts of unequal size, machine files, and the record of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.launch import FORMATS
from fairlead.decide.jobs import JOB_METHODS, SharedHosts, map_jobs, parse_taken
from fairlead.decide.jobs.mapped_jobs import distinct_names

CLUSTER = fl.Cluster(("h0", "h1", "h2"), (4, 2, 3))


def job(name: str = "ring", num_ranks: int = 3) -> fl.Job:
    sends = np.roll(np.eye(num_ranks), 1, axis=1)
    return fl.Job.from_traffic(fl.Traffic(sends * 1e6, sends * 10), 1.0, name)


def test_taken_slots_are_a_number_or_a_list() -> None:
    taken = parse_taken(["h0:2", "fe80::1:0", "h2=0,2-4"])

    assert taken == {"h0": [0, 1], "fe80::1": [], "h2": [0, 2, 3, 4]}


@pytest.mark.parametrize("text", ["h0", ":2", "h0:", "h0:-1", "h0:many", "h0=", "h0=1,", "h0=2-"])
def test_other_forms_of_taken_are_refused(text: str) -> None:
    with pytest.raises(fl.InputError, match="--taken: expected HOST:N or HOST=0,4-7, got"):
        parse_taken([text])


def test_host_that_is_named_twice_is_refused() -> None:
    with pytest.raises(fl.InputError, match="'h0' is named twice"):
        parse_taken(["h0:1", "h0=3"])


@pytest.mark.parametrize(
    ("taken", "problem"),
    [
        ({"h9": [0]}, "taken: no host 'h9'; there are h0, h1, h2"),
        ({"h1": [0, 1, 2]}, "taken: host 'h1' has the slots 0 to 1, got 2"),
    ],
)
def test_taken_slot_that_is_not_there_is_refused(taken: dict[str, list[int]], problem: str) -> None:
    with pytest.raises(fl.TopologyError, match=problem):
        SharedHosts.of(CLUSTER, taken)


def test_small_hosts_and_taken_slots_leave_the_other_cores_free() -> None:
    hosts = SharedHosts.of(CLUSTER, {"h0": [0, 2]})

    assert (hosts.machine.nodes, hosts.machine.sockets, hosts.machine.cores) == (3, 1, 4)
    assert hosts.machine.free_cores().tolist() == [1, 3, 4, 5, 8, 9, 10]
    assert hosts.free == fl.Cluster(("h0", "h1", "h2"), (2, 2, 3))


def test_host_without_a_free_slot_is_not_among_the_free() -> None:
    assert SharedHosts.of(CLUSTER, {"h1": [0, 1]}).free.hosts == ("h0", "h2")


@pytest.mark.parametrize("method", ["blocked", "cyclic", "drb", "spread"])
def test_no_method_uses_a_taken_or_missing_slot(method: str) -> None:
    hosts = SharedHosts.of(CLUSTER, {"h0": [0, 2]})

    mapped = map_jobs([job(), job("pair", 2)], hosts, method)

    per_host = sum(np.bincount(placed.host_of_rank, minlength=3) for placed in mapped.placements)
    assert np.all(per_host <= [2, 2, 3])
    on_h0 = [
        core
        for index, placed in enumerate(mapped.placements)
        for host, (_, core) in zip(
            placed.host_of_rank, hosts.socket_and_core(mapped.cores, index), strict=True
        )
        if host == 0
    ]
    assert set(on_h0) <= {1, 3}


def test_too_many_ranks_are_refused_with_the_free_slots() -> None:
    hosts = SharedHosts.of(CLUSTER, {"h0": [0, 1, 2, 3]})

    with pytest.raises(fl.TopologyError, match="6 ranks do not fit: 3 hosts have 5 free slots of"):
        map_jobs([job(), job()], hosts)


def test_machine_file_gives_rates_and_sockets(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text('[machine]\nsockets = 2\nnic = "100Mbit/s"\n')

    machine = SharedHosts.of(CLUSTER, machine_file=file).machine

    assert (machine.nodes, machine.sockets, machine.cores) == (3, 2, 2)
    assert machine.nic_Bps == 12.5e6
    assert machine.memory_Bps == fl.Machine.memory_Bps


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nodes = 4", "machine.nodes: 4, but there are 3 hosts"),
        ("cores = 3", "1 sockets of 3 cores are fewer than the 4 slots"),
        ("taken = [1]", "taken slots are given by host here"),
        ('nic = "0B/s"', r"machine: nic_Bps: must be from 1 to 1e\+16, got 0.0"),
        ("racks = 2", "machine.racks: Extra inputs are not permitted"),
    ],
)
def test_machine_file_that_does_not_fit_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(f"[machine]\n{text}\n")

    with pytest.raises(fl.Error, match=problem) as caught:
        SharedHosts.of(CLUSTER, machine_file=file)
    assert str(file) in str(caught.value)


def test_jobs_of_one_name_get_numbers_and_none_takes_the_records() -> None:
    assert list(distinct_names(["cg", "cg", "cg-2", "jobs"])) == ["cg", "cg-2", "cg-2-2", "jobs-2"]


def test_files_hold_the_placement_of_each_job_and_their_cores(tmp_path: Path) -> None:
    hosts = SharedHosts.of(CLUSTER, {"h0": [0]})
    mapped = map_jobs([job(), job()], hosts, "cyclic")

    files = mapped.write(tmp_path / "out", "rankfile", bind=True)

    assert [file.name for file in files] == ["ring.rankfile", "ring-2.rankfile"]
    for file, placement in zip(files, mapped.placements, strict=True):
        hosts_of_file = FORMATS["rankfile"].parse(file.read_text(), CLUSTER)
        assert hosts_of_file == placement.host_names()
    assert files[0].read_text().splitlines()[0] == "rank 0=h0 slot=0:1"


def busy_job(random: np.random.Generator) -> fl.Job:
    """Three ranks; some pairs have few messages, others more than an interface can do."""
    num_messages = np.rint(10 ** random.uniform(0, 4, (3, 3))) * (1 - np.eye(3))
    size_bytes = 10 ** random.uniform(3, 6, (3, 3))
    return fl.Job.from_traffic(fl.Traffic(num_messages * size_bytes, num_messages), 1.0, "busy")


@pytest.mark.parametrize("seed", range(10))
def test_optimize_is_never_behind_at_the_scale_that_is_reported(seed: int) -> None:
    random = np.random.default_rng(seed)
    jobs = [busy_job(random), busy_job(random)]
    hosts = SharedHosts.of(fl.Cluster.uniform(["h0", "h1", "h2"], 2))

    waiting_s = {
        method: map_jobs(jobs, hosts, method, scale=0.001).prediction.waiting_time_s
        for method in JOB_METHODS
    }

    assert waiting_s["optimize"] == min(waiting_s.values())


def test_time_limit_and_progress_reach_the_search() -> None:
    hosts, seen = SharedHosts.of(CLUSTER), set()

    with pytest.raises(fl.InputError, match="time limit: must be > 0 s, got 0"):
        map_jobs([job()], hosts, "optimize", time_limit_s=0)
    map_jobs([job()], hosts, "optimize", on_progress=lambda _, total: seen.add(total))

    assert len(seen) == 2  # steps of the search, then messages


def test_prediction_is_that_of_the_simulator_with_hosts_for_nodes() -> None:
    mapped = map_jobs([job(), job()], SharedHosts.of(CLUSTER), "cyclic")

    expected = fl.simulate(mapped.workload, mapped.cores)
    assert mapped.prediction.waiting_time_s == expected.waiting_time_s > 0
    assert mapped.prediction.servers[0].name == "h0.nic.send"
    assert mapped.prediction.servers[0].bytes == expected.servers[0].bytes
