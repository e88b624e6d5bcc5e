# SPDX-License-Identifier: Apache-2.0
"""Running programs learn new tasks by fairlead.h, and go on whatever becomes of the oracle.

Ranks run in UTS namespaces whose host names are those of a torus (programs/on-hosts.sh).
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle_service import serving
from torus_files import host, interconnect, shares
from tracing import PROGRAMS, TracedMpi, compiled

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find

pytestmark = [pytest.mark.mpi]

SMALL = ("--size", "8", "--vectors", "3", "--products", "30")
LINE = [host(0, 0, z) for z in range(4)]


def run(
    mpi: TracedMpi, hosts: list[str], *program: Path | str, **env: str
) -> subprocess.CompletedProcess[str]:
    """A process on each host."""
    launcher = detect(mpi.mpirun)
    on_hosts = (PROGRAMS / "on-hosts.sh", ",".join(hosts))
    command = launcher.prepare_command(
        mpi.spec(len(hosts), *on_hosts, *program, **env), Path("/nonexistent")
    )
    return subprocess.run(command, capture_output=True, text=True, check=False)


def spmv(
    mpi: TracedMpi, hosts: list[str], *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    return run(mpi, hosts, find(detect(mpi.mpirun)).example("spmv"), *SMALL, *arguments, **env)


def has_passed(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode == 0 and done.stdout.splitlines()[-1] == "PASSED"


def remappings(done: subprocess.CompletedProcess[str]) -> tuple[int, ...]:
    """Asked for, moved, without an oracle."""
    found = re.search(r"(\d+) asked for, (\d+) moved tasks, (\d+) without", done.stdout)
    assert found is not None, done.stdout + done.stderr
    return tuple(int(number) for number in found.groups())


@pytest.fixture
def oracle(tmp_path: Path) -> Iterator[str]:
    """A real service; of a line of four routers the third is slow to reach."""
    pytest.importorskip("uvicorn", reason="the extra fairlead[oracle] is not installed")
    idle = {
        ((x, 0, z), way): 0.0
        for x in range(3)
        for z in range(4)
        for way in ("X-", "X+", "Z-", "Z+")
    }
    stalled = {((0, 0, 1), "Z+"): 0.9, ((0, 0, 3), "Z-"): 0.9}
    (tmp_path / "ldms.txt").write_text(shares(idle | stalled))
    (tmp_path / "interconnect.txt").write_text(interconnect(3, 1, 4))
    fairlead = [sys.executable, "-m", "fairlead"]
    command = [*fairlead, "import", "gemini", "interconnect.txt", "-o", "t.topo.npz"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    options = ("--metrics", "ldms:ldms.txt", "--recorded")
    with serving(tmp_path, "t.topo.npz", *options) as url:
        yield url


Answer = Callable[[list[int]], bytes]
QUESTIONS: list[dict[str, Any]] = []
"""That services of the test at hand were asked."""


@pytest.fixture
def answering() -> Iterator[Callable[[Answer], str]]:
    """Starts services that answer as a test says, to the tasks of each question; gives URLs."""
    listeners = []
    QUESTIONS.clear()

    def start(answer: Answer) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                with connection, connection.makefile("rb") as reader:
                    length = 0
                    while line := reader.readline().strip():
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    question = json.loads(reader.read(length))
                    QUESTIONS.append(question)
                    connection.sendall(answer(question["task_of_process"]))

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


def answer_with(tasks: list[int]) -> bytes:
    body = json.dumps({"task_of_process": tasks}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_spmv_computes_what_is_known(mpi: TracedMpi, num_ranks: int) -> None:
    done = spmv(mpi, ["a"] * num_ranks, "--turn", "4")

    assert has_passed(done), done.stdout + done.stderr


def test_spmv_runs_on_the_grid_of_the_paper(
    openmpi: TracedMpi, answering: Callable[[Answer], str]
) -> None:
    url = answering(lambda tasks: answer_with(tasks[5:] + tasks[:5]))

    done = spmv(openmpi, ["a"] * 64, "--products", "4", "--every", "2", FAIRLEAD_ORACLE=url)

    assert has_passed(done), done.stdout + done.stderr
    assert "4 x 4 x 4 tasks" in done.stdout
    assert remappings(done) == (1, 1, 0)


@pytest.mark.parametrize("method", ["optimize", "oracle"])
def test_real_stalls_move_the_tasks_of_a_running_program(
    mpi: TracedMpi, oracle: str, method: str
) -> None:
    # Eight tasks in a cube, two on each host: on the one that is slow to reach opposite corners, to
    # which six faces go; to two neighbours four would.
    slow, *others = LINE[2], LINE[0], LINE[1], host(1, 0, 0)
    hosts = [slow, *(name for name in others for _ in range(2)), slow]

    done = spmv(
        mpi, hosts, "--vectors", "30", "--every", "10",
        FAIRLEAD_ORACLE=f"{oracle}?metric=stalls&method={method}",
    )  # fmt: skip

    assert has_passed(done), done.stdout + done.stderr
    # The second time all are where they should be.
    assert remappings(done) == (2, 1, 0)


def test_spmv_moves_matrix_and_vectors_with_its_tasks(
    mpi: TracedMpi, answering: Callable[[Answer], str]
) -> None:
    url = answering(lambda tasks: answer_with(tasks[3:] + tasks[:3]))

    done = spmv(mpi, ["a"] * 8, "--every", "5", FAIRLEAD_ORACLE=url)

    assert has_passed(done), done.stdout + done.stderr
    assert remappings(done) == (5, 5, 0)


def test_each_move_asks_for_more_gain_so_that_none_flaps(
    openmpi: TracedMpi, answering: Callable[[Answer], str]
) -> None:
    moves = iter((True, True, True, False, False))
    url = answering(lambda tasks: answer_with(tasks[::-1] if next(moves) else tasks))

    done = spmv(openmpi, ["a"] * 2, "--every", "5", FAIRLEAD_ORACLE=url)

    assert has_passed(done), done.stdout + done.stderr
    asked = [question["least_gain_ratio"] for question in QUESTIONS]
    assert asked == [0.1, 0.2, 0.4, 0.5, 0.4]
    assert [question["repeats_left"] for question in QUESTIONS] == [25, 20, 15, 10, 5]
    assert all(size > 0 for size in QUESTIONS[0]["move_bytes_of_process"])


FAULTS: dict[str, tuple[Answer, str]] = {
    "half": (
        lambda tasks: answer_with(tasks)[:-4],
        "gives half of an answer",
    ),
    "dies": (lambda _: b"", "gives half of an answer"),
    "refuses": (lambda _: b"HTTP/1.1 503 Busy\r\n\r\nbusy", "refuses: busy"),
    "no JSON": (lambda _: b"HTTP/1.1 200 OK\r\n\r\nhello", "the oracle's answer: "),
    "twice": (lambda tasks: answer_with([0] * len(tasks)), "gives a task to two processes"),
    "few": (lambda tasks: answer_with(tasks[:-1]), "has not all processes"),
    "beyond": (
        lambda tasks: answer_with([t + 1 for t in tasks]),
        "the oracle's answer: task_of_process",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_program_goes_on_where_the_oracle_fails(
    openmpi: TracedMpi, answering: Callable[[Answer], str], fault: str
) -> None:
    answer, problem = FAULTS[fault]

    done = spmv(openmpi, ["a"] * 4, "--every", "20", FAIRLEAD_ORACLE=answering(answer))

    assert has_passed(done), done.stdout + done.stderr
    assert remappings(done) == (1, 0, 1)
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("fairlead: "))
    assert problem in line and line.endswith("; all tasks stay")


def test_service_that_is_gone_is_named_once(openmpi: TracedMpi) -> None:
    done = spmv(openmpi, ["a"] * 2, "--every", "20", FAIRLEAD_ORACLE="http://127.0.0.1:9")

    assert has_passed(done), done.stdout + done.stderr
    assert done.stderr.count("fairlead: oracle http://127.0.0.1:9: cannot be reached: ") == 1


def by_mpi4py(
    mpi: TracedMpi, folder: Path, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """programs/remap.py on hosts a0, a1 and a2, with the library of this MPI."""
    linked = subprocess.check_output(["ldd", find(detect(mpi.mpirun)).example("spmv")], text=True)
    found = re.search(r"libmpi(?:ch)?(\.so\S*) => (\S+)", linked)
    assert found is not None, linked
    # A wheel of mpi4py looks for the name that MPICH's library has outside of Debian.
    (folder / f"libmpi{found[1]}").symlink_to(found[2])
    program = (sys.executable, PROGRAMS / "remap.py", *arguments)
    env |= {"LD_LIBRARY_PATH": str(folder), "MPI4PY_LIBMPI": found[2]}
    return run(mpi, ["a0", "a1", "a2"], *program, **env)


def test_ranks_of_mpi4py_learn_their_tasks(
    mpi: TracedMpi, tmp_path: Path, answering: Callable[[Answer], str]
) -> None:
    url = answering(lambda tasks: answer_with(tasks[1:] + tasks[:1]))

    done = by_mpi4py(mpi, tmp_path, FAIRLEAD_ORACLE=url)

    assert sorted(done.stdout.splitlines()) == [
        f"turn {turn} rank {rank} task {(rank + turn + 1) % 3} same 1"
        for turn in range(2)
        for rank in range(3)
    ], done.stderr
    assert QUESTIONS[0]["host_of_process"] == ["a0", "a1", "a2"]
    assert QUESTIONS[1]["task_of_process"] == [1, 2, 0]


def test_ranks_of_mpi4py_hand_their_tasks_coordinates_on(
    mpi: TracedMpi, tmp_path: Path, answering: Callable[[Answer], str]
) -> None:
    url = answering(lambda tasks: answer_with(tasks[1:] + tasks[:1]))

    by_mpi4py(mpi, tmp_path, "coordinates", FAIRLEAD_ORACLE=url)

    in_order_of_tasks = [[0, 0], [1, -0.5], [2, -1]]
    assert [q["coordinates_of_task"] for q in QUESTIONS] == [in_order_of_tasks] * 2


def test_ranks_of_mpi4py_go_on_where_the_oracle_dies(
    openmpi: TracedMpi, tmp_path: Path, answering: Callable[[Answer], str]
) -> None:
    done = by_mpi4py(openmpi, tmp_path, FAIRLEAD_ORACLE=answering(lambda _: b""))

    assert sorted(done.stdout.splitlines()) == [
        f"turn {turn} rank {rank} task {rank} same 1" for turn in range(2) for rank in range(3)
    ], done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("fairlead: ")]
    assert len(lines) == 2 and all(line.endswith("; all tasks stay") for line in lines)


def test_wrong_argument_of_one_rank_of_mpi4py_reaches_all(
    openmpi: TracedMpi, tmp_path: Path
) -> None:
    done = by_mpi4py(openmpi, tmp_path, "wrong")

    assert sorted(done.stdout.splitlines()) == [
        f"turn {turn} rank {rank} task {rank} same 1 remap: task 2 cannot send 1000000.0 bytes to "
        "task 3"
        for turn in range(2)
        for rank in range(3)
    ], done.stderr


@pytest.fixture
def program(mpi: TracedMpi) -> Path:
    """A program in C, built as the page says."""
    root = find(detect(mpi.mpirun)).root
    # `--no-as-needed`, as the library comes before what refers to it.
    flags = [f"-I{root}/include", f"-L{root}/lib", f"-Wl,-rpath,{root}/lib,--no-as-needed"]
    return compiled(
        [mpi.compilers[".c"], "-Wall", "-Wextra", "-Werror", *flags, "-lfairlead"],
        [PROGRAMS / "remap.c"],
        depends_on=[root / "include" / "fairlead.h"],
    )


def test_c_program_learns_its_tasks(
    mpi: TracedMpi, program: Path, answering: Callable[[Answer], str]
) -> None:
    url = answering(lambda tasks: answer_with(tasks[1:] + tasks[:1]))

    done = run(mpi, ["a"] * 3, program, FAIRLEAD_ORACLE=url)

    assert sorted(done.stdout.splitlines()) == [
        f"turn {turn} rank {rank} task {(rank + turn + 1) % 3} state 1 same 1"
        for turn in range(2)
        for rank in range(3)
    ], done.stderr


def test_c_program_hands_its_tasks_coordinates_on(
    mpi: TracedMpi, program: Path, answering: Callable[[Answer], str]
) -> None:
    url = answering(lambda tasks: answer_with(tasks[1:] + tasks[:1]))

    run(mpi, ["a"] * 3, program, "coordinates", FAIRLEAD_ORACLE=url)

    assert [question["task_of_process"] for question in QUESTIONS] == [[0, 1, 2], [1, 2, 0]]
    in_order_of_tasks = [[0, 0], [1, -0.5], [2, -1]]
    assert [q["coordinates_of_task"] for q in QUESTIONS] == [in_order_of_tasks] * 2


def test_program_without_coordinates_hands_none_on(
    mpi: TracedMpi, program: Path, answering: Callable[[Answer], str]
) -> None:
    run(mpi, ["a"] * 3, program, FAIRLEAD_ORACLE=answering(answer_with))

    assert all("coordinates_of_task" not in question for question in QUESTIONS)
    assert len(QUESTIONS) == 2


def test_geometric_mapping_uses_what_a_running_program_hands_on(
    mpi: TracedMpi, program: Path, oracle: str
) -> None:
    # The hosts come in another order than on their line in Z, so the tasks do, too.
    hosts = [LINE[2], LINE[0], LINE[3], LINE[1]]
    url = f"{oracle}?metric=hops&method=geometric"

    done = run(mpi, hosts, program, "coordinates", FAIRLEAD_ORACLE=url)

    tasks = dict(re.findall(r"turn 0 rank (\d) task (\d) state 1", done.stdout))
    assert tasks == {"0": "2", "1": "0", "2": "3", "3": "1"}, done.stdout + done.stderr


@pytest.mark.parametrize("variant", ["wrong", "uneven"])
def test_wrong_argument_of_one_rank_reaches_all(
    mpi: TracedMpi, program: Path, variant: str
) -> None:
    done = run(mpi, ["a"] * 3, program, variant)

    assert sorted(done.stdout.splitlines()) == [
        f"turn {turn} rank {rank} task {rank} state -1 same 1"
        for turn in range(2)
        for rank in range(3)
    ], done.stderr
