# SPDX-License-Identifier: Apache-2.0
"""Routers that are kept for several runs."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.act.launch import detect
from fairlead.act.plan.relay import RouterPlace, new_key
from fairlead.act.relay import routers as routers_module
from fairlead.act.relay.counters import router_counters
from fairlead.act.relay.kept_routers import kept_routers, service_for
from fairlead.act.relay.routers import Routers
from fairlead.errors import InputError, LaunchError

HOSTS = ("localhost", "127.0.0.1")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    # Longer than the kernel lets the name of a socket be.
    home = tmp_path / (120 * "x")
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home / "fairlead"


@contextlib.contextmanager
def serving(routers: Routers) -> Iterator[None]:
    with service_for(routers) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        try:
            yield
        finally:
            service.shutdown()
            thread.join()


@pytest.fixture
def service(state: Path) -> Iterator[None]:
    with Routers(detect("mpirun.openmpi"), HOSTS) as routers, serving(routers):
        yield


def num_jobs(place: RouterPlace) -> float | None:
    counters = router_counters(Path(place.socket).with_name("metrics"))
    return None if counters is None else counters["jobs"]


def becomes(place: RouterPlace, jobs: float) -> bool:
    deadline_s = time.monotonic() + 30.0
    while num_jobs(place) != jobs and time.monotonic() < deadline_s:
        time.sleep(0.01)
    return num_jobs(place) == jobs


def router_at(place: RouterPlace) -> int:
    """Its process: the one that is started with this folder."""
    folder = str(Path(place.socket).parent).encode()
    (pid,) = (
        int(process.name) for process in Path("/proc").glob("[0-9]*") if folder in words_of(process)
    )
    return pid


def kill_at_once(pid: int) -> None:
    """On return the process has ended."""
    with os.fdopen(os.pidfd_open(pid)) as process:
        os.kill(pid, signal.SIGKILL)
        select.select([process], [], [])


def words_of(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


@pytest.mark.usefixtures("service")
def test_several_runs_use_the_same_routers_while_they_run() -> None:
    with kept_routers(new_key(), HOSTS) as one, kept_routers(new_key(), HOSTS[::-1]) as other:
        assert one is not None
        assert other == one[::-1]
        assert [place.host for place in one] == list(HOSTS)
        assert num_jobs(one[0]) == num_jobs(one[1]) == 2

    assert becomes(one[0], 0)
    assert becomes(one[1], 0)


@pytest.mark.usefixtures("service")
def test_a_router_that_has_ended_is_started_again() -> None:
    with kept_routers(new_key(), HOSTS) as before:
        assert before is not None
        kill_at_once(router_at(before[1]))

    with kept_routers(new_key(), HOSTS) as after:
        assert after is not None
        assert after[0] == before[0]
        assert after[1] != before[1]
        assert num_jobs(after[1]) == 1


@pytest.mark.usefixtures("service")
def test_the_job_of_a_run_that_is_killed_ends() -> None:
    program = (
        "import sys, time\n"
        "from fairlead.act.relay.kept_routers import kept_routers\n"
        "with kept_routers(sys.argv[1], sys.argv[2:]):\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with (
        kept_routers(new_key(), HOSTS) as ours,
        subprocess.Popen(
            [sys.executable, "-c", program, new_key(), *HOSTS], stdout=subprocess.PIPE
        ) as run,
    ):
        assert ours is not None
        assert run.stdout is not None
        assert run.stdout.readline() == b"begun\n"
        assert num_jobs(ours[0]) == 2

        run.kill()

        assert becomes(ours[0], 1)


@pytest.mark.usefixtures("service")
def test_a_router_that_hangs_holds_up_only_those_who_use_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routers_module, "_START_S", 2.0)
    with kept_routers(new_key(), HOSTS) as places:
        assert places is not None
    hung = router_at(places[1])
    os.kill(hung, signal.SIGSTOP)
    try:
        with (
            pytest.raises(LaunchError, match=rf"{HOSTS[1]}: its router: no answer"),
            kept_routers(new_key(), HOSTS),
        ):
            pass
        with kept_routers(new_key(), HOSTS[:1]) as others:
            assert others == places[:1]
    finally:
        os.kill(hung, signal.SIGCONT)

    with kept_routers(new_key(), HOSTS) as again:
        assert again == places


@pytest.mark.usefixtures("service")
def test_a_host_without_router_is_named() -> None:
    with (
        pytest.raises(LaunchError, match=r"none on 192\.0\.2\.7"),
        kept_routers(new_key(), ["192.0.2.7"]),
    ):
        pass


@pytest.mark.usefixtures("service")
def test_what_is_no_job_is_refused_and_the_service_goes_on(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = state.glob("routers-*.socket")
    monkeypatch.chdir(state)
    assert path.stat().st_mode & 0o777 == 0o600
    twice = json.dumps({"key": new_key(), "hosts": [HOSTS[0], HOSTS[0]]}).encode() + b"\n"
    short = b'{"key": "short", "hosts": ["localhost"]}\n'
    for line in (b"no JSON\n", b"{}\n", short, twice, b"x" * 100):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(path.name)
            caller.sendall(line)
            caller.shutdown(socket.SHUT_WR)
            assert b'"error":"' in caller.makefile("rb").readline()

    with kept_routers(new_key(), HOSTS) as routers:
        assert routers is not None


@pytest.mark.usefixtures("service")
def test_there_is_one_service_only(state: Path) -> None:
    with (
        Routers(detect("mpirun.openmpi"), HOSTS[:1]) as more,
        pytest.raises(InputError, match="kept already"),
        service_for(more),
    ):
        pass

    with kept_routers(new_key(), HOSTS) as routers:
        assert routers is not None


@pytest.mark.usefixtures("service")
def test_the_folder_of_the_socket_is_one_that_runs_can_enter(state: Path) -> None:
    assert state.stat().st_mode & 0o700 == 0o700


def test_without_service_there_are_none(state: Path) -> None:
    with kept_routers(new_key(), HOSTS) as routers:
        assert routers is None


def test_a_socket_that_a_killed_service_left_is_replaced(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Routers(detect("mpirun.openmpi"), HOSTS) as routers:
        with serving(routers):
            (path,) = state.glob("routers-*.socket")
        monkeypatch.chdir(state)
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(path.name)
        with kept_routers(new_key(), HOSTS) as places:
            assert places is None
        with serving(routers), kept_routers(new_key(), HOSTS) as places:
            assert places is not None

    assert not path.exists()
