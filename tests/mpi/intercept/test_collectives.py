# SPDX-License-Identifier: Apache-2.0
"""Collectives of a program follow the plan's schedules, and deliver what the MPI's own deliver.

Each rank runs in a UTS namespace whose host name is one of the plan's (programs/on-hosts.sh).
"""

from __future__ import annotations

import collections
import itertools
import json
import re
import signal
import subprocess
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tracing import MPIS, PROGRAMS, TracedMpi

import fairlead as fl
from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.measure.trace_file import read_trace

pytestmark = [pytest.mark.mpi]

ON_HOSTS = PROGRAMS / "on-hosts.sh"
HOSTS = ("a", "b", "c", "d", "e")
ONE_PER_HOST = "a,b,c,d,e"
SEVERAL_PER_HOST = "a,c,b,d,c,a,d,b"
ROOTED = ("bcast", "reduce")
BOUNDS = (0, 512, 8192, None)
"""Sizes from one to the next have methods of their own."""
TURNS = range(max(len(fl.collectives.methods_for(each)) for each in fl.collectives.OPERATIONS))
"""In all of them together, each method has calls of all sizes."""
THREAD_LEVELS = ("single", "funneled", "serialized")


def network() -> fl.Network:
    """Two racks, of three hosts and of two, behind one uplink each way."""
    num_hosts = len(HOSTS)
    rack = np.arange(num_hosts) // 3
    is_near = rack[:, None] == rack[None, :]
    rate_Bps = np.where(is_near, 1e8, 2e7)
    np.fill_diagonal(rate_Bps, np.inf)
    latency_s = np.where(np.eye(num_hosts), 0.0, np.where(is_near, 5e-5, 2e-4))
    uplink = np.argwhere((rack[:, None] == 0) & (rack[None, :] == 1))
    return fl.Network(HOSTS, latency_s, rate_Bps, groups=[fl.BottleneckGroup(uplink, 2e7)])


def forcing(turn: int = 0, *, hosts: list[int] | None = None) -> list[dict[str, object]]:
    """Rules for every call; in each turn other methods."""
    rules = []
    for operation in fl.collectives.OPERATIONS:
        methods = fl.collectives.methods_for(operation)
        for band, (low, high) in enumerate(itertools.pairwise(BOUNDS)):
            rules.append(
                {
                    "operation": operation,
                    "min_bytes": low,
                    "max_bytes": None if high is None else high - 1,
                    "hosts": hosts,
                    "method": methods[(turn + band) % len(methods)],
                }
            )
    return rules


def write_plan(folder: Path, num_ranks: int, rules: list[dict[str, object]]) -> Path:
    write_network_plan(folder, network())
    fields = {"num_ranks": num_ranks, "is_reproducible": True, "rules": rules}
    write_plan_file(folder, "collectives.json", fields, 2)
    return folder


def run(
    mpi: TracedMpi,
    hosts: str,
    plan: Path | str,
    *words: Path | str,
    source: str = "collectives.cpp",
    **env: str,
) -> subprocess.CompletedProcess[str]:
    """Run a program on the invented hosts, one rank for each of them."""
    launcher = detect(mpi.mpirun)
    library = str(find(launcher).intercept)
    env = {"LD_PRELOAD": library, "FAIRLEAD_PLAN": str(plan), **env}
    program = mpi.build(source)
    spec = mpi.spec(len(hosts.split(",")), ON_HOSTS, hosts, program, *words, **env)
    command = launcher.prepare_command(spec, Path("/nonexistent"))
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def library_lines(done: subprocess.CompletedProcess[str]) -> str:
    """Lines of the library; launchers say things of their own."""
    return "\n".join(line for line in done.stderr.splitlines() if line.startswith("fairlead"))


# All turns with one MPI; with the others each method has calls of some sizes.
@pytest.mark.parametrize(
    ("name", "turn", "level", "hosts"),
    [
        (name, turn, level, hosts)
        for name in MPIS
        for turn, level, hosts in zip(
            TURNS if name == "openmpi-4" else TURNS[::2],
            itertools.cycle(THREAD_LEVELS),
            itertools.cycle([ONE_PER_HOST, SEVERAL_PER_HOST]),
        )
    ],
)
def test_every_call_delivers_what_the_native_one_does(
    name: str, turn: int, level: str, hosts: str, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, len(hosts.split(",")), forcing(turn))

    done = run(MPIS[name], hosts, plan, level, str(turn), "80")

    assert done.stdout == "compared 80\n", done.stdout + done.stderr
    assert (done.returncode, library_lines(done)) == (0, "")


@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    hosts=st.lists(st.sampled_from(HOSTS), min_size=2, max_size=6),
    turn=st.sampled_from(TURNS),
    level=st.sampled_from(("multiple", *THREAD_LEVELS)),
    seed=st.integers(0, 10**6),
)
def test_threads_on_any_hosts_get_what_the_native_calls_deliver(
    mpi: TracedMpi, tmp_path: Path, hosts: list[str], turn: int, level: str, seed: int
) -> None:
    plan = write_plan(tmp_path, len(hosts), forcing(turn))

    done = run(mpi, ",".join(hosts), plan, level, str(seed), "60")

    num_threads = 2 if level == "multiple" else 1
    assert done.stdout == "compared 60\n" * num_threads, done.stdout + done.stderr
    assert (done.returncode, library_lines(done)) == (0, "")


@pytest.mark.parametrize("turn", TURNS[:2])
def test_memory_at_absolute_addresses_is_sent_from_there(
    mpi: TracedMpi, turn: int, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, 5, forcing(turn))

    done = run(mpi, ONE_PER_HOST, plan, source="bottom.c")

    assert (done.returncode, done.stdout) == (0, "right 50 of 50\n"), done.stderr


def test_a_followed_call_is_not_the_mpis_own(mpi: TracedMpi, tmp_path: Path) -> None:
    counter = mpi.build("native_calls.c", "-shared", "-fPIC", "-ldl")
    ring = {"operation": "allgather", "min_bytes": 8, "max_bytes": 8, "hosts": None,
            "method": "ring"}  # fmt: skip
    library = find(detect(mpi.mpirun)).intercept
    env = {"LD_PRELOAD": f"{library}:{counter}"}

    calls = []
    for rules in ([], [ring]):
        plan = write_plan(tmp_path, 5, rules)
        done = run(mpi, ONE_PER_HOST, plan, "often", "45", **env)
        assert done.returncode == 0, done.stdout + done.stderr
        calls.append(int(done.stdout.rpartition("native allgathers: ")[2]))

    assert calls[0] - calls[1] == 5  # every ninth


@pytest.mark.parametrize(
    ("hosts", "num_ranks", "is_native"),
    [([0, 1, 2, 3, 4], 5, False), ([0, 1], None, True), (None, 4, True)],
)
def test_a_rule_is_for_exactly_its_hosts_and_ranks(
    openmpi: TracedMpi,
    hosts: list[int] | None,
    num_ranks: int | None,
    is_native: bool,
    tmp_path: Path,
) -> None:
    counter = openmpi.build("native_calls.c", "-shared", "-fPIC", "-ldl")
    env = {"LD_PRELOAD": f"{find(detect(openmpi.mpirun)).intercept}:{counter}"}

    without = run(openmpi, ONE_PER_HOST, write_plan(tmp_path, 5, []), "often", "45", **env)
    rules = [{**rule, "num_ranks": num_ranks} for rule in forcing(1, hosts=hosts)]
    ruled = run(openmpi, ONE_PER_HOST, write_plan(tmp_path, 5, rules), "often", "45", **env)

    assert (ruled.stdout.splitlines()[-1] == without.stdout.splitlines()[-1]) == is_native


@pytest.mark.parametrize(
    ("name", "num_runs"), [("openmpi-4", 10), ("openmpi-5", 3), ("mpich-4", 3)]
)
def test_the_same_call_gives_the_same_bits_on_every_run(
    name: str, num_runs: int, tmp_path: Path
) -> None:
    # Each method has a number of reals of its own; those that cut messages have long ones.
    counts = (10, 20000, 20001, 20002, 1000, 1, *range(20003, 20008))
    rules = []
    for turn, count in zip(TURNS, counts, strict=True):
        size = {"min_bytes": 8 * count, "max_bytes": 8 * count}
        rules += [{**rule, **size} for rule in forcing(turn)[:: len(BOUNDS) - 1]]
    plan = write_plan(tmp_path, 8, rules)
    words = ("reals", *(str(count) for count in counts))

    bits = {run(MPIS[name], SEVERAL_PER_HOST, plan, *words).stdout for _ in range(num_runs)}

    assert len(bits) == 1
    assert bits.pop().startswith("bits ")


@pytest.mark.parametrize("turn", TURNS)
def test_the_same_call_gives_the_same_bits_whatever_was_called_before(
    openmpi: TracedMpi, tmp_path: Path, turn: int
) -> None:
    count, of_its_size_class = "18000", "32000"
    plan = write_plan(tmp_path, 8, [rule for rule in forcing(turn) if rule["max_bytes"] is None])

    alone = run(openmpi, SEVERAL_PER_HOST, plan, "reals", count)
    after_another = run(openmpi, SEVERAL_PER_HOST, plan, "reals", of_its_size_class, count)

    assert alone.stdout.startswith("bits ")
    assert alone.stdout == after_another.stdout.splitlines(keepends=True)[-1]


def test_many_calls_on_many_communicators_leave_nothing_behind(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, 3, forcing(1))
    counter = mpi.build("live_objects.c", "-shared", "-fPIC", "-ldl")
    env = {"LD_PRELOAD": f"{find(detect(mpi.mpirun)).intercept}:{counter}"}

    done = run(mpi, "a,b,c", plan, "often", "400", **env)

    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[1]) < 100 * 1024, done.stdout  # four communicators
    assert re.findall(r"([1-9]\d*) made, (\d+) left", done.stdout) == [
        (mock.ANY, "0"),
        (mock.ANY, "0"),
    ], done.stdout


def test_calls_are_handled_and_traced_at_once(openmpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path / "plan", 5, forcing())
    trace = tmp_path / "trace"

    done = run(openmpi, ONE_PER_HOST, plan, "often", "45", FAIRLEAD_TRACE=str(trace))

    assert done.returncode == 0, done.stderr
    traffic = read_trace(trace)
    calls: collections.Counter[str] = collections.Counter()
    for call in traffic.collectives:
        calls[call.operation] += call.calls
    called = {*fl.collectives.OPERATIONS, "reduce_scatter_block"} - {"reduce_scatter"}
    assert calls == dict.fromkeys(called, 25) | {"reduce": 30}  # five more at the end


def test_calls_between_two_groups_are_the_mpis_own(mpi: TracedMpi, tmp_path: Path) -> None:
    counter = mpi.build("native_calls.c", "-shared", "-fPIC", "-ldl")
    env = {"LD_PRELOAD": f"{find(detect(mpi.mpirun)).intercept}:{counter}"}

    said = []
    for rules in ([], forcing(1)):
        done = run(mpi, ONE_PER_HOST, write_plan(tmp_path, 5, rules), "between", **env)
        assert (done.returncode, library_lines(done)) == (0, ""), done.stdout + done.stderr
        said.append(done.stdout)

    assert said[0].startswith("right 27\n")
    assert said[0] == said[1]  # as many native ones


# Debian's MPICH refuses MPI_Comm_spawn.
@pytest.mark.parametrize("name", ["openmpi-4", "openmpi-5"])
def test_calls_of_spawned_processes_are_the_mpis_own(name: str, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 3, forcing(1))

    done = run(MPIS[name], "a,b,d", plan, "spawned")

    assert done.stdout == "right 33\n", done.stdout + done.stderr
    assert (done.returncode, library_lines(done)) == (0, "")


def test_wrong_arguments_are_answered_by_the_mpi(mpi: TracedMpi, tmp_path: Path) -> None:
    answers = []
    for rules in ([], forcing()):
        done = run(mpi, ONE_PER_HOST, write_plan(tmp_path, 5, rules), "wrong")
        assert (done.returncode, library_lines(done)) == (0, ""), done.stdout + done.stderr
        answers.append(done.stdout)

    assert answers[0] == answers[1]
    assert answers[0].count("\n") == 25


@pytest.mark.parametrize("turn", TURNS[:3])
def test_an_error_is_the_mpis_own_and_goes_to_the_calls_communicator(
    mpi: TracedMpi, turn: int, tmp_path: Path
) -> None:
    # Open MPI takes null and overlapping buffers, and crashes.
    words = ("buffers",) if mpi is MPIS["mpich-4"] else ()
    answers = []
    for rules in ([], forcing(turn)):
        plan = write_plan(tmp_path, 3, rules)
        written = tmp_path / f"written by {len(rules)} rules"
        written.mkdir()
        done = run(mpi, "a,b,c", plan, written, *words, source="wrong_collectives.c")
        assert library_lines(done) == "", done.stderr
        answers.append([file.read_text().splitlines() for file in sorted(written.iterdir())])

    assert len(answers[0]) == 3
    assert "right on 3" in answers[0][0]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("turn", TURNS[:2])
def test_delete_callbacks_may_communicate_on_a_communicator_that_is_freed(
    mpi: TracedMpi, turn: int, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, 3, forcing(turn))

    done = run(mpi, "a,b,c", plan, source="delete_callbacks.c")

    assert (done.returncode, done.stdout) == (0, "right 708\n"), done.stderr


def test_the_error_handler_of_a_program_with_threads_stays(mpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 2, forcing())

    done = run(mpi, "a,b", plan, "handlers", "100000")

    assert done.stdout == "other handlers 0, handled 2\n", done.stdout + done.stderr


@pytest.mark.parametrize("hosts", [ONE_PER_HOST, SEVERAL_PER_HOST])
def test_roots_in_turn_do_not_use_up_the_communicators(
    openmpi: TracedMpi, hosts: str, tmp_path: Path
) -> None:
    num_ranks = len(hosts.split(","))
    calls = 12 * num_ranks
    counter = openmpi.build("live_objects.c", "-shared", "-fPIC", "-ldl")
    env = {"LD_PRELOAD": f"{find(detect(openmpi.mpirun)).intercept}:{counter}"}

    for method in ("cmpi", "native"):
        rules = [{**rule, "method": method} for rule in forcing() if rule["operation"] in ROOTED]
        plan = write_plan(tmp_path, num_ranks, rules)
        done = run(openmpi, hosts, plan, "roots", str(calls), **env)

        assert f"errors 0, right {calls}\n" in done.stdout, done.stdout + done.stderr
        num_made, num_left = re.findall(r"communicators: (\d+) made, (\d+) left", done.stdout)[0]
        assert 3 <= int(num_made) <= 64 + 3
        assert int(num_left) == 0


def test_a_program_with_hardly_any_communicator_left_goes_on(tmp_path: Path) -> None:
    mpich = MPIS["mpich-4"]  # The others have no limit that a test could come to.
    rules = [{**rule, "method": "cmpi"} for rule in forcing() if rule["operation"] in ROOTED]
    plan = write_plan(tmp_path, 5, rules)

    done = run(mpich, ONE_PER_HOST, plan, "crowded", "60")

    assert done.stdout == "errors 0, right 60\n", done.stdout + done.stderr
    assert library_lines(done) == ""


@pytest.mark.parametrize("way", ["leave", "fail"])
def test_a_rank_that_ends_in_the_middle_ends_the_job_as_without_schedules(
    mpi: TracedMpi, way: str, tmp_path: Path
) -> None:
    native, followed = (
        run(mpi, ONE_PER_HOST, write_plan(tmp_path, 5, rules), way) for rules in ([], forcing())
    )

    # MPICH's mpirun joins the signals of all ranks by "or", and may kill the others or not.
    codes = [done.returncode & ~signal.SIGKILL for done in (native, followed)]
    assert codes[0] == codes[1] != 0
    assert library_lines(followed) == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"num_ranks": 4}, "num_ranks: the program has 5"),
        ({"rules": [{}]}, "rules[0]: operation: is missing"),
        (
            {"rules": [{**forcing()[0], "method": "magic"}]},
            'rules[0]: method: no method for bcast is named "magic"',
        ),
        (
            {"rules": [{**forcing()[0], "hosts": [5]}]},
            "rules[0]: hosts[0]: expected a whole number from 0 to 4, got 5",
        ),
        ({"version": 1}, "version: expected 2, got 1"),
    ],
)
def test_a_plan_that_cannot_be_used_is_one_line_and_the_mpis_own(
    openmpi: TracedMpi, change: dict[str, object], problem: str, tmp_path: Path
) -> None:
    file = write_plan(tmp_path, 5, forcing()) / "collectives.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))

    done = run(openmpi, ONE_PER_HOST, tmp_path, "single", "1", "20")

    assert done.stdout == "compared 20\n"
    assert library_lines(done) == f"fairlead: collectives stay the MPI's own: {file}: {problem}"


def test_collectives_may_have_a_network_of_their_own(openmpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 5, forcing())
    others = fl.Network(("x",), np.zeros((1, 1)), np.full((1, 1), np.inf))
    own = tmp_path / "collectives-network.json"
    (tmp_path / "network.json").rename(own)

    alone = run(openmpi, ONE_PER_HOST, plan, "single", "1", "20")
    write_network_plan(tmp_path, others)
    with_another = run(openmpi, ONE_PER_HOST, plan, "single", "1", "20")
    own.write_text("{}")
    damaged = run(openmpi, ONE_PER_HOST, plan, "single", "1", "20")

    assert {done.stdout for done in (alone, with_another, damaged)} == {"compared 20\n"}
    assert library_lines(alone) == library_lines(with_another) == ""
    assert f"the MPI's own: {own}: format: is missing" in library_lines(damaged)


def test_a_host_that_the_plan_lacks_is_one_line(openmpi: TracedMpi, tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 5, forcing())

    done = run(openmpi, "a,b,c,d,z", plan, "single", "1", "20")

    assert done.stdout == "compared 20\n"
    assert (
        library_lines(done)
        == "fairlead: collectives stay the MPI's own: host 'z' is not in the plan"
    )


@pytest.mark.parametrize("turn", TURNS)
def test_ranks_may_describe_the_same_elements_by_other_types(
    openmpi: TracedMpi, turn: int, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path, len(SEVERAL_PER_HOST.split(",")), forcing(turn))

    done = run(openmpi, SEVERAL_PER_HOST, plan, source="other_types.c")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "0 wrong", done.stdout
    assert library_lines(done) == ""
