# SPDX-License-Identifier: Apache-2.0
"""Who may not ask keeps no connection, and costs those who may nothing."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from torus_files import host, interconnect, topology

from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.guarding import Guard, Limiter
from fairlead.watch.oracle.places import Places

Served = Iterator[int]


@contextlib.contextmanager
def served(folder: Path, **options: object) -> Iterator[int]:
    """A service on a port of its own, in a thread."""
    from fairlead.watch.oracle.service import service
    from fairlead.watch.oracle.serving import configuration

    with socket.create_server(("127.0.0.1", 0), backlog=600) as listener:
        app = service(Oracle(topology(folder, 2, 2, 2)), **options)  # type: ignore[arg-type]
        server = uvicorn.Server(configuration(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


def answers(port: int, request: bytes) -> bytes:
    """All that comes back until the service closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(request)
        text = b""
        while piece := client.recv(65536):
            text += piece
        return text


HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n"


def test_connection_without_a_token_is_closed(tmp_path: Path) -> None:
    with served(tmp_path, token="secret") as port:
        found = answers(port, HEALTH + b"\r\n" + HEALTH + b"\r\n")

    assert found.startswith(b"HTTP/1.1 401 ") and found.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in found


def test_connection_with_too_many_requests_is_closed(tmp_path: Path) -> None:
    with served(tmp_path, rate=1) as port:
        found = answers(port, (HEALTH + b"\r\n") * 5)

    assert b"HTTP/1.1 200 " in found
    last = found[found.rindex(b"HTTP/1.1 ") :]
    assert last.startswith(b"HTTP/1.1 429 ") and b"connection: close" in last


def test_connection_with_a_large_request_is_closed(tmp_path: Path) -> None:
    head = b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 600000\r\n\r\n"
    with served(tmp_path) as port:
        found = answers(port, head + b" " * 600000)

    assert found.startswith(b"HTTP/1.1 413 ") and b"connection: close" in found


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR "])
def test_scheme_of_a_token_is_read_in_any_case(tmp_path: Path, scheme: str) -> None:
    with served(tmp_path, token="secret") as port:
        line = f"Authorization: {scheme} secret\r\nConnection: close\r\n\r\n"
        assert answers(port, HEALTH + line.encode()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("value", ["Basic secret", "secret", "Bearer", "Bearer secre", ""])
def test_other_tokens_are_refused(tmp_path: Path, value: str) -> None:
    with served(tmp_path, token="secret") as port:
        line = f"Authorization: {value}\r\n\r\n"
        assert answers(port, HEALTH + line.encode()).startswith(b"HTTP/1.1 401 ")


def test_silent_connections_lock_nobody_out(tmp_path: Path) -> None:
    with served(tmp_path, token="secret") as port, contextlib.ExitStack() as opened:
        for _ in range(600):
            opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        opened.callback(connection.close)
        connection.request("GET", "/health", headers={"Authorization": "Bearer secret"})
        first = connection.getresponse()
        first.read()
        # The connection that may ask stays, whoever else comes.
        for _ in range(600):
            opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        connection.request("GET", "/health", headers={"Authorization": "Bearer secret"})
        second = connection.getresponse()

    assert (first.status, second.status) == (200, 200)


def test_requests_without_a_token_use_up_no_other_rate() -> None:
    guard = Guard(None, Limiter(2, clock=lambda: 0.0), "secret")  # type: ignore[arg-type]

    def ask(token: str) -> int:
        headers = [(b"authorization", f"Bearer {token}".encode())]
        refusal = guard._refusal({"headers": headers, "client": ("10.0.0.1", 1)})
        return 200 if refusal is None else refusal[0]

    assert [ask("wrong") for _ in range(5)] == [401, 401, 401, 429, 429]
    assert [ask("secret") for _ in range(3)] == [200, 200, 429]


class One:
    """A connection."""

    def __init__(self, is_idle: bool = True):
        self.is_idle = is_idle


def test_oldest_unknown_connection_goes_for_a_new_one() -> None:
    places: Places[One] = Places(most=9, most_of_peer=4, most_unknown=4, most_unknown_of_peer=2)
    a = [One() for _ in range(3)]

    closed = [places.enter(one, "a") for one in a]

    assert closed == [[], [], [a[0]]]


def test_address_with_most_unknown_connections_loses_one() -> None:
    places: Places[One] = Places(most=9, most_of_peer=9, most_unknown=4, most_unknown_of_peer=3)
    a, b = [One() for _ in range(3)], [One(), One()]

    closed = [places.enter(one, peer) for peer, some in (("a", a), ("b", b)) for one in some]

    assert closed == [[], [], [], [], [a[0]]]


def test_settled_connection_goes_only_when_it_is_idle() -> None:
    places: Places[One] = Places(most=9, most_of_peer=2, most_unknown=9, most_unknown_of_peer=9)
    busy, idle, new, last = One(is_idle=False), One(), One(), One()
    for one in (busy, idle):
        places.enter(one, "a")
        places.settle(one)

    assert places.enter(new, "a") == [idle]
    places.settle(new)
    new.is_idle = False
    assert places.enter(last, "a") == [last]
    assert places.enter(One(), "b") == []


PAIR = [host(0, 0, 0), host(1, 0, 0)]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("coordinates_of_task", [[1, 2], [3]], "task 1: expected 2 finite values, got [3.0]"),
        ("coordinates_of_task", [[1, 2]], "coordinates_of_task: expected 2 places, got 1"),
        ("coordinates_of_task", [[], []], "expected 1 to 16 dimensions, got 0"),
        ("coordinates_of_task", [[0] * 99] * 2, "expected 1 to 16 dimensions, got 99"),
        ("move_bytes_of_process", [1, -1], "every value must be finite and >= 0"),
    ],
)
def test_values_that_do_not_fit_are_refused(
    tmp_path: Path, field: str, value: object, problem: str
) -> None:
    program = {"host_of_process": PAIR, "task_of_process": [0, 1], "sent": [], field: value}
    with served(tmp_path) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = json.dumps(program)
        path = "/v1/remap?metric=hops&method=geometric"
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        detail = json.loads(answer.read())["detail"]
        connection.close()

    assert answer.status == 422 and problem in detail


def end_by_signal(folder: Path, prepare: str, request: bytes) -> int:
    """Exit code of a service that SIGTERM ends.

    Args:
        folder: Where files may be written.
        prepare: What its program does before the service begins.
        request: What it is asked before, and does not answer until then; empty: nothing.
    """
    (folder / "interconnect.txt").write_text(interconnect(2, 2, 2))
    topology(folder, 2, 2, 2).save(folder / "t.topo.npz")
    program = f"import sys, time\n{prepare}\nfrom fairlead.cli import main\nmain()"
    command = [sys.executable, "-c", program, "oracle", "serve", str(folder / "t.topo.npz")]
    with subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        port = int(running.stderr.readline().rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(request)
            assert answers(port, HEALTH + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200")
            running.send_signal(signal.SIGTERM)
            try:
                return running.wait(timeout=60)
            finally:
                running.kill()


def test_signal_ends_the_service_whatever_it_computes(tmp_path: Path) -> None:
    # An answer that takes an hour stands for any that a thread cannot be stopped in.
    prepare = (
        "from fairlead.watch.oracle import service\n"
        "service.hottest_links = lambda oracle: time.sleep(3600)"
    )

    code = end_by_signal(tmp_path, prepare, b"GET /v1/links HTTP/1.1\r\nHost: x\r\n\r\n")

    assert code in (-signal.SIGTERM, 128 + signal.SIGTERM)


def test_signal_ends_the_service_before_python_destroys_its_modules(tmp_path: Path) -> None:
    # On a busy machine that takes seconds. While it is done, no thread runs.
    prepare = (
        "class Slow:\n"
        "    def __del__(self, sleep=time.sleep): sleep(3600)\n"
        "sys.kept_until_then = Slow()"
    )

    assert end_by_signal(tmp_path, prepare, b"") == 128 + signal.SIGTERM


def test_geometric_without_coordinates_makes_no_dense_matrix(tmp_path: Path, monkeypatch) -> None:
    import scipy.sparse as sp

    from fairlead.watch.oracle.remapping import RemapQuestion, remap

    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("made a dense matrix"))
    num_tasks = 1024
    order = np.random.default_rng(0).permutation(num_tasks).tolist()
    sent = [(task, (task + 1) % num_tasks, 1e6) for task in range(num_tasks)]
    hosts = [name for name in (host(0, 0, 0), host(1, 0, 0)) for _ in range(num_tasks // 2)]

    found = remap(
        Oracle(topology(tmp_path, 2, 2, 2)),
        RemapQuestion(hosts, order, sent, metric="hops", method="geometric"),
    )

    assert found.then_s < found.now_s / 10


def test_scotch_is_not_asked_for_more_hosts_than_it_maps_to_in_time(tmp_path: Path) -> None:
    from fairlead.errors import InputError
    from fairlead.watch.oracle.remapping import RemapQuestion, remap

    hosts = [f"h{number}" for number in range(1025)]
    asked = RemapQuestion(hosts, list(range(1025)), [], metric="hops", method="scotch-groups")

    with pytest.raises(InputError, match="scotch-groups maps to at most 1024 hosts here, got 1025"):
        remap(Oracle(topology(tmp_path, 2, 2, 2)), asked)


def test_head_without_an_end_is_cut_off(tmp_path: Path) -> None:
    line = b"X: " + b"y" * 1000 + b"\r\n"
    sent = 0
    with (
        served(tmp_path) as port,
        socket.create_connection(("127.0.0.1", port), timeout=30) as client,
        contextlib.suppress(ConnectionError),
    ):
        client.sendall(HEALTH)
        for _ in range(100_000):
            client.sendall(line * 10)
            sent += len(line) * 10

    assert sent < 100_000_000  # of a gigabyte


CHUNKED = b"POST /v1/query HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        pytest.param(CHUNKED + b"0\r\n", b"a:b\r\n" * 10_000, id="fields behind the body"),
        pytest.param(CHUNKED + b"1;", b"e" * 50_000, id="extension of a chunk"),
    ],
)
def test_request_that_never_ends_is_cut_off(tmp_path: Path, begun: bytes, more: bytes) -> None:
    sent = 0
    with (
        served(tmp_path) as port,
        socket.create_connection(("127.0.0.1", port), timeout=30) as client,
        contextlib.suppress(ConnectionError),
    ):
        client.sendall(begun)
        while sent < 1_000_000_000:
            client.sendall(more)
            sent += len(more)

    assert sent < 100_000_000


def test_request_of_very_many_fields_is_cut_off(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        usual = answers(port, HEALTH + b"a: b\r\n" * 200 + b"Connection: close\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            found = b""
            found = answers(port, HEALTH + b"a: b\r\n" * 2000 + b"\r\n")

    assert usual.startswith(b"HTTP/1.1 200 ")
    assert found == b""


def test_empty_lines_keep_no_connection(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("fairlead.watch.oracle.serving.HEAD_S", 0.3)
    with (
        served(tmp_path) as port,
        socket.create_connection(("127.0.0.1", port), timeout=0.05) as client,
    ):
        client.sendall(HEALTH + b"\r\n")
        found = [b"an answer"]
        with contextlib.suppress(ConnectionError):
            while found[-1]:
                client.sendall(b"\r\n")
                with contextlib.suppress(TimeoutError):
                    found.append(client.recv(65536))

    assert b"".join(found[1:]).startswith(b"HTTP/1.1 200 ")


def test_answer_that_nobody_reads_is_dropped(tmp_path: Path, monkeypatch) -> None:
    is_left, leave = threading.Event(), Places.leave
    monkeypatch.setattr(Places, "leave", lambda *all_: (leave(*all_), is_left.set()))
    monkeypatch.setattr("fairlead.watch.oracle.serving.UNREAD_S", 0.2)
    # More than the buffers of both ends hold.
    nodes = [name for name in topology(tmp_path, 2, 2, 2).hosts for _ in range(64)]
    body = json.dumps({"nodes": nodes, "metrics": ["hops", "bw"]}).encode()
    head = f"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with served(tmp_path) as port, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect(("127.0.0.1", port))
        client.sendall(head.encode() + body)
        assert is_left.wait(60)
        found = b""
        with contextlib.suppress(ConnectionError):
            while piece := client.recv(2**20):
                found += piece

    promised = re.search(rb"content-length: (\d+)", found)
    assert promised is not None and len(found) < int(promised[1])


def test_requests_of_a_connection_that_is_gone_leave_no_trace(tmp_path: Path, caplog) -> None:
    body = b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
    with served(tmp_path) as port:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                # Closed with answers unread, which resets it.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.sendall(body * 50)
        assert answers(port, HEALTH + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")

    assert [record.getMessage() for record in caplog.records] == []


def test_malformed_requests_are_not_logged_one_by_one(tmp_path: Path, caplog) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
    with served(tmp_path) as port:
        malformed = answers(port, b"nonsense\r\n\r\n")
        upgraded = answers(port, b"GET /health HTTP/1.0\r\n" + upgrade + b"\r\n")

    assert malformed.startswith(b"HTTP/1.1 400 ") and upgraded.startswith(b"HTTP/1.1 200 ")
    assert [record.getMessage() for record in caplog.records] == []


def test_large_body_in_one_piece_with_its_head_is_read(tmp_path: Path) -> None:
    nodes = json.dumps({"nodes": PAIR, "metrics": ["hops"]}).encode().ljust(400_000)
    head = f"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: {len(nodes)}\r\n"
    with served(tmp_path) as port:
        found = answers(port, head.encode() + b"Connection: close\r\n\r\n" + nodes)

    assert found.startswith(b"HTTP/1.1 200 ")
