# SPDX-License-Identifier: Apache-2.0
"""The cluster of a Slurm allocation, from Slurm's own variables."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.act.launch import cluster_from_slurm
from fairlead.act.launch.slurm import (
    environment_of_tools,
    expand_node_list,
    expand_tasks_per_node,
    is_reached_by_launchers,
)
from fairlead.errors import InputError


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("login", ["login"]),
        ("n1,n3", ["n1", "n3"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("node[008-011]", ["node008", "node009", "node010", "node011"]),
        ("gpu-[01,03-04].site,fat", ["gpu-01.site", "gpu-03.site", "gpu-04.site", "fat"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("rack[0-1]_blade[0-1]\n", [f"rack{a}_blade{b}" for a in (0, 1) for b in (0, 1)]),
        ("ip-10-0-[1-2]-5,ip-10-0-9-9", ["ip-10-0-1-5", "ip-10-0-2-5", "ip-10-0-9-9"]),
        # Each of these was given to scontrol 22.05.
        ("n[1-2], m3", ["n1", "n2", "m3"]),
        ("n1 n2\tn3", ["n1", "n2", "n3"]),
        (",n1,,n2,", ["n1", "n2"]),
    ],
)
def test_node_list_expands_as_scontrol_show_hostnames_does(text: str, hosts: list[str]) -> None:
    assert expand_node_list(text) == hosts


@given(st.lists(st.integers(0, 120), min_size=1, unique=True), st.integers(1, 4))
def test_compressed_numbers_expand_to_themselves(numbers: list[int], width: int) -> None:
    numbers = sorted(numbers)
    ranges = []
    for _, group in itertools.groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        run = [number for _, number in group]
        ranges.append(f"{run[0]:0{width}d}" + (f"-{run[-1]:0{width}d}" if len(run) > 1 else ""))

    hosts = expand_node_list(f"n[{','.join(ranges)}]")

    assert hosts == [f"n{number:0{width}d}" for number in numbers]


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 5)), min_size=1, max_size=8))
def test_tasks_per_node_expand_to_their_repeats(groups: list[tuple[int, int]]) -> None:
    text = ",".join(f"{n}(x{times})" if times > 1 else str(n) for n, times in groups)

    assert expand_tasks_per_node(text) == [n for n, times in groups for _ in range(times)]


@pytest.mark.parametrize("end", ["", "\n"])
def test_allocation_becomes_a_cluster(end: str) -> None:
    env = {"SLURM_JOB_NODELIST": f"n[1-3]{end}", "SLURM_TASKS_PER_NODE": f"4(x2),2{end}"}

    cluster = cluster_from_slurm(env)

    assert cluster is not None
    assert (cluster.hosts, cluster.slots) == (("n1", "n2", "n3"), (4, 4, 2))


def test_allocation_of_processors_counts_those() -> None:
    env = {"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_CPUS_PER_NODE": "8(x2)"}

    cluster = cluster_from_slurm(env)

    assert cluster is not None
    assert cluster.slots == (8, 8)


def test_slots_in_a_step_are_those_of_the_job() -> None:
    # As Slurm 22.05 sets them in `srun -N1 -n1` of a job with 4,1(x3) tasks.
    step = {"SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_TASKS_PER_NODE": "1"}
    env = {"SLURM_JOB_NODELIST": "h[0-3]", "SLURM_JOB_CPUS_PER_NODE": "4,1(x3)", **step}
    cluster = cluster_from_slurm(env)
    assert cluster is not None
    assert cluster.slots == (4, 1, 1, 1)

    threaded = {"SLURM_JOB_CPUS_PER_NODE": "16,4(x3)", "SLURM_CPUS_PER_TASK": "4"}
    assert cluster_from_slurm(env | threaded).slots == (4, 1, 1, 1)

    # In the shell of salloc on the first host they are the job's already.
    interactive = {"SLURM_TASKS_PER_NODE": "2,1(x3)"}
    assert cluster_from_slurm(env | interactive).slots == (2, 1, 1, 1)


# As Slurm sets them in `sbatch -N2 --ntasks-per-node=4 : -N1 -n2` (heterogeneous_jobs.html).
HETEROGENEOUS = {
    "SLURM_JOB_ID": "7",
    "SLURM_HET_SIZE": "2",
    "SLURM_JOB_NODELIST": "n[1-2]",
    "SLURM_TASKS_PER_NODE": "4(x2)",
    "SLURM_JOB_NODELIST_HET_GROUP_0": "n[1-2]",
    "SLURM_TASKS_PER_NODE_HET_GROUP_0": "4(x2)",
    "SLURM_JOB_NUM_NODES_HET_GROUP_0": "2",
    "SLURM_JOB_NODELIST_HET_GROUP_1": "gpu7",
    "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1": "2",
    "SLURM_JOB_NUM_NODES_HET_GROUP_1": "1",
}


def test_a_heterogeneous_job_has_the_hosts_of_all_components() -> None:
    cluster = cluster_from_slurm(HETEROGENEOUS)

    assert cluster is not None
    assert (cluster.hosts, cluster.slots) == (("n1", "n2", "gpu7"), (4, 4, 2))
    # The launcher would find the first component only.
    assert cluster.given is None


def test_heterogeneous_jobs_had_other_variables_before_slurm_20() -> None:
    pack = {
        name.replace("HET_GROUP", "PACK_GROUP").replace("HET_SIZE", "PACK_SIZE"): value
        for name, value in HETEROGENEOUS.items()
    }

    cluster = cluster_from_slurm(pack)

    assert cluster is not None
    assert (cluster.hosts, cluster.slots) == (("n1", "n2", "gpu7"), (4, 4, 2))
    assert not is_reached_by_launchers(["gpu7"], pack)


def test_launchers_reach_the_first_component_by_themselves() -> None:
    assert is_reached_by_launchers(["n1", "n2"], HETEROGENEOUS)
    assert not is_reached_by_launchers(["n1", "gpu7"], HETEROGENEOUS)
    assert is_reached_by_launchers(["elsewhere"], {})
    assert is_reached_by_launchers(["n1"], {"SLURM_JOB_NODELIST": "n1"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SLURM_HET_SIZE": "two"}, "SLURM_HET_SIZE='two'"),
        ({"SLURM_HET_SIZE": "3"}, "SLURM_JOB_NODELIST_HET_GROUP_2 is not set"),
        ({"SLURM_TASKS_PER_NODE_HET_GROUP_0": "4"}, "SLURM_TASKS_PER_NODE_HET_GROUP_0='4' is for"),
        ({"SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1": ""}, "SLURM_TASKS_PER_NODE_HET_GROUP_1 is not"),
    ],
)
def test_damage_of_a_component_is_named(changes: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cluster_from_slurm(HETEROGENEOUS | changes)


def test_outside_of_slurm_there_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    monkeypatch.delenv("SLURM_NODELIST", raising=False)

    assert cluster_from_slurm() is None


@pytest.mark.parametrize(
    ("nodes", "tasks", "message"),
    [
        ("n[1-2", "1", "brackets do not match"),
        ("n1]", "1", "brackets do not match"),
        ("n[1-[2]]", "1", "brackets do not match"),
        ("n[2-1]", "1", "'2-1' is no range"),
        (f"n[1-{'9' * 5000}]", "1", "is no range"),
        ("n1", "9" * 5000, "is not understood"),
        ("n1", f"1(x{'9' * 5000})", "is not understood"),
        ("n[a]", "1", "'a' is no range"),
        ("n[1-999999]", "1", "more than 100000 hosts"),
        (",", "1", "a host name is missing"),
        ("n[1-2,],m", "1", "'' is no range"),
        ("-x", "1", "is not usable"),
        ("n1,n1", "1(x2)", "'n1' is named twice"),
        ("n1", "x", "SLURM_TASKS_PER_NODE='x': 'x' is not understood"),
        ("n1", "0", "slots must be >= 1"),
        ("n1", "1(x0)", "not understood"),
        ("n[1-2]", "4", "is for 1 hosts, SLURM_JOB_NODELIST names 2"),
        ("n1", "", "SLURM_TASKS_PER_NODE is not set"),
    ],
)
def test_damaged_variable_is_named(nodes: str, tasks: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        cluster_from_slurm({"SLURM_JOB_NODELIST": nodes, "SLURM_TASKS_PER_NODE": tasks})


def test_steps_of_tools_share_their_hosts_unless_the_user_says_otherwise() -> None:
    job = {"SLURM_JOB_NODELIST": "a", "PATH": "/bin"}
    assert environment_of_tools(job) == {**job, "SLURM_OVERLAP": "1"}
    assert environment_of_tools({**job, "SLURM_OVERLAP": "0"})["SLURM_OVERLAP"] == "0"
    assert environment_of_tools({"PATH": "/bin"}) == {"PATH": "/bin"}
