# SPDX-License-Identifier: Apache-2.0
"""Routers are started and ended, and the plan for relays is nobody else's."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch import Launcher, detect
from fairlead.act.plan.relay import RELAY_FILE, RouterPlace, new_key, write_relay_plan
from fairlead.act.relay.counters import router_counters
from fairlead.act.relay.router_process import RouterProcess
from fairlead.act.relay.routers import router_program, run_routers
from fairlead.decide.host_paths import path_table
from fairlead.errors import InputError, LaunchError, ShapeError
from fairlead.model.network import Network


def network() -> Network:
    rates = np.where(np.eye(2), np.inf, 1e8)
    return Network(("a", "b"), np.where(np.eye(2), 0.0, 1e-4), rates)


def places() -> list[RouterPlace]:
    return [RouterPlace(host, "10.0.0.1", 4000, f"/tmp/{host}/router") for host in "ab"]


@pytest.fixture
def launcher() -> Launcher:
    return detect("mpirun.openmpi")


def test_only_the_owner_can_read_the_plan_with_the_key(tmp_path: Path) -> None:
    key = new_key()

    write_relay_plan(tmp_path, network(), path_table(network()), places(), key)

    file = tmp_path / RELAY_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    document = json.loads(file.read_text())
    assert document["key"] == key
    assert document["threshold_bytes"] == 65536
    assert document["sockets"] == ["/tmp/a/router", "/tmp/b/router"]
    assert [path["hops"] for path in document["routes"]] == [[1], [0]]


def test_keys_differ() -> None:
    assert len({new_key() for _ in range(100)}) == 100


def test_a_plan_for_other_hosts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShapeError):
        write_relay_plan(tmp_path, network(), path_table(network()), places()[:1], new_key())
    with pytest.raises(InputError, match="threshold"):
        write_relay_plan(
            tmp_path, network(), path_table(network()), places(), new_key(), threshold_bytes=-1
        )


def test_the_table_of_an_earlier_run_is_in_the_plan(tmp_path: Path) -> None:
    table = path_table(network())
    first, *others = table.paths
    kept = dataclasses.replace(table, paths=(dataclasses.replace(first, use="standard"), *others))

    write_relay_plan(tmp_path, network(), kept, places(), new_key(), rule="mcm")

    document = json.loads((tmp_path / RELAY_FILE).read_text())
    assert [path.get("use") for path in document["routes"][:2]] == ["standard", None]
    with pytest.raises(ShapeError, match="times of segments"):
        without = dataclasses.replace(table, segment_s=())
        write_relay_plan(tmp_path, network(), without, places(), new_key(), rule="mcm")


def test_the_rule_of_paths_and_its_zones_are_in_the_plan(tmp_path: Path) -> None:
    table = path_table(network())

    write_relay_plan(tmp_path, network(), table, places(), new_key(), rule="mcm", zones=(3.0, 5.0))

    document = json.loads((tmp_path / RELAY_FILE).read_text())
    assert (document["rule"], document["zones"]) == ("mcm", [3.0, 5.0])
    assert np.shape(document["segment_s"]) == np.shape(table.segment_s)
    assert document["segment_s"][0][0] is None
    assert "use" not in document["routes"][0]
    with pytest.raises(InputError, match="rule: expected one of trials, mcm"):
        write_relay_plan(tmp_path, network(), table, places(), new_key(), rule="fastest")
    with pytest.raises(InputError, match="zones"):
        write_relay_plan(tmp_path, network(), table, places(), new_key(), zones=(3.0, 2.0))


def test_routers_run_until_the_end_of_the_block(launcher: Launcher) -> None:
    with run_routers(launcher, ["localhost", "127.0.0.1"], new_key()) as routers:
        sockets = [Path(router.socket) for router in routers]
        assert all(socket.is_socket() for socket in sockets)
        assert all(socket.parent.stat().st_mode & 0o777 == 0o700 for socket in sockets)
        counters = router_counters(sockets[0].with_name("metrics"))
        assert counters is not None
        assert counters["jobs"] == 1.0

    assert not any(socket.parent.exists() for socket in sockets)
    assert router_counters(sockets[0].with_name("metrics")) is None


@pytest.mark.parametrize("is_local", [True, False])
def test_a_router_that_was_stopped_is_ended_with_its_folder(
    is_local: bool, launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # An agent that leaves its command behind when it is killed, as ssh does.
    agent = tmp_path / "agent"
    agent.write_text('#!/bin/sh\nshift\n/bin/sh -c "$*"\nexit $?\n')
    agent.chmod(0o755)
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", str(agent))
    monkeypatch.setattr("fairlead.act.launch.remote_command.is_local_host", lambda _host: is_local)
    monkeypatch.setattr("fairlead.act.relay.routers._END_S", 0.5)

    with run_routers(launcher, ["127.0.0.1"], new_key()) as (place,):
        folder = Path(place.socket).parent
        (router,) = routers_in(folder)
        os.kill(router, signal.SIGSTOP)

    assert routers_in(folder) == []
    assert not folder.exists()


def wait_for(claim: Callable[[], bool]) -> None:
    """Until it is true; the time limit of tests ends a wait for what never comes."""
    while not claim():
        time.sleep(0.01)


def jobs_of(place: RouterPlace) -> float | None:
    counters = router_counters(Path(place.socket).with_name("metrics"))
    return counters["jobs"] if counters else None


@pytest.mark.parametrize("is_local", [True, False])
def test_a_router_that_was_killed_is_started_again_where_it_was_with_its_job(
    is_local: bool, launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent = tmp_path / "agent"
    agent.write_text('#!/bin/sh\nshift\n/bin/sh -c "$*"\nexit $?\n')
    agent.chmod(0o755)
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", str(agent))
    monkeypatch.setattr("fairlead.act.launch.remote_command.is_local_host", lambda _host: is_local)
    lines: list[str] = []
    with run_routers(launcher, ["127.0.0.1"], new_key(), report=lines.append) as (place,):
        folder = Path(place.socket).parent
        for number in range(2):
            (router,) = routers_in(folder)
            os.kill(router, signal.SIGKILL)
            wait_for(lambda begun=number: len(lines) > begun)
            assert routers_in(folder) not in ([], [router])
            assert jobs_of(place) == 1.0
            with socket.create_connection((place.address, place.port)):
                pass

    assert lines == ["relays: the router of 127.0.0.1 had ended and was started again"] * 2
    assert routers_in(folder) == []
    assert not folder.exists()


def test_a_router_that_ends_again_and_again_is_given_up_with_one_line(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairlead.act.relay.routers._FIRST_DELAY_S", 0.01)
    lines: list[str] = []
    with run_routers(launcher, ["127.0.0.1"], new_key(), report=lines.append) as (place,):
        folder = Path(place.socket).parent
        while not any("not started again" in line for line in lines):
            for router in routers_in(folder):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(router, signal.SIGKILL)
            time.sleep(0.01)

    assert sum("not started again" in line for line in lines) == 1
    assert lines[-1].startswith("relays: the router of 127.0.0.1 has ended 6 times")
    assert not folder.exists()


def test_the_end_of_the_block_does_not_wait_for_a_router_that_is_being_started(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with run_routers(launcher, ["127.0.0.1"], new_key()) as (place,):
        folder = Path(place.socket).parent
        (router,) = routers_in(folder)
        # It never says where it listens; it ends with its standard input, as an agent does.
        started = tmp_path / "started"
        hanging = ["/bin/sh", "-c", f"echo $$ > {started}.part; mv {started}.part {started}; cat"]
        monkeypatch.setattr("fairlead.act.relay.routers.Routers._command", lambda *_: hanging)
        os.kill(router, signal.SIGKILL)
        wait_for(started.exists)

    assert not Path(f"/proc/{started.read_text().strip()}").exists()
    assert not folder.exists()


def routers_in(folder: Path) -> list[int]:
    """Processes of routers with this folder; no zombies."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"fairlead-router") and str(folder).encode() in words:
                found.append(int(process.name))
    return found


def test_a_router_takes_as_many_descriptors_as_it_may(tmp_path: Path) -> None:
    soft_limit, hard_limit = 64, 512
    command = [str(router_program()), "--listen", "127.0.0.1", "--folder", str(tmp_path / "r")]
    with subprocess.Popen(
        ["prlimit", f"--nofile={soft_limit}:{hard_limit}", *command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as router:  # fmt: skip
        assert router.stdout is not None
        assert "port" in json.loads(router.stdout.readline())
        limits = resource.prlimit(router.pid, resource.RLIMIT_NOFILE)
        router.communicate("")

    assert limits == (hard_limit, hard_limit)


def test_a_host_whose_router_does_not_start_is_named(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\necho no such host >&2\nexit 1\n")
    agent.chmod(0o755)
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", str(agent))

    # Addresses that are not this machine's (RFC 5737).
    with (
        pytest.raises(LaunchError, match=r"192\.0\.2\.7: its router did not start"),
        run_routers(launcher, ["192.0.2.7", "192.0.2.8"], new_key()),
    ):
        pass


def test_a_loopback_address_is_refused_where_there_are_other_hosts(launcher: Launcher) -> None:
    # An address that is not this machine's (RFC 5737).
    with (
        pytest.raises(LaunchError, match=r"127\.0\.0\.1: the name means"),
        run_routers(launcher, ["192.0.2.7", "127.0.0.1"], new_key()),
    ):
        pass


def test_no_router_answers_where_none_is(tmp_path: Path) -> None:
    assert router_counters(tmp_path / "metrics") is None


def test_an_answer_that_is_not_utf_8_is_refused_at_once() -> None:
    router = RouterProcess(["printf", r"gr\366\337e\n"])
    with pytest.raises(LaunchError, match="gr��e"):
        router.answer(limit_s=10.0)
    router.end(limit_s=10.0)
