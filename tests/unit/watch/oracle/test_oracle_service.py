# SPDX-License-Identifier: Apache-2.0
"""The service answers by HTTP, refuses what it must, and stays bounded."""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import uvicorn
from torus_files import host, shares, topology

from fairlead.errors import Error, InputError
from fairlead.measure.metrics import open_source
from fairlead.measure.network_sources import Measuring, network_from, network_source
from fairlead.measure.oracle import TOKEN_VARIABLE, ask_oracle, cost_network, oracle_network
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.guarding import Limiter


class Running(NamedTuple):
    port: int
    oracle: Oracle

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if isinstance(body, bytes | type(None)) else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if text.startswith("{") else text


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """Starts services with a torus whose one link stalls for 68 % of the time."""
    from fairlead.watch.oracle.service import service
    from fairlead.watch.oracle.serving import configuration

    begun = []

    def start(**options: Any) -> Running:
        (tmp_path / "ldms.txt").write_text(shares({((0, 0, 6), "X+"): 0.68}))
        oracle = Oracle(topology(tmp_path, 3, 2, 8), [open_source(f"ldms:{tmp_path}/ldms.txt")])
        oracle.use_clock_of_samples()
        oracle.collector.read_all()
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(configuration(service(oracle, **options)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        begun.append((server, thread, listener))
        return Running(listener.getsockname()[1], oracle)

    yield start
    for server, thread, listener in begun:
        server.should_exit = True
        thread.join()
        listener.close()


PAIR = [host(0, 0, 6), host(1, 0, 6)]


def test_question_of_two_nodes_is_answered(serve) -> None:
    status, answer = serve().ask(
        "POST", "/v1/query", {"nodes": PAIR, "metrics": ["stalls", "hops"], "coverage": True}
    )

    assert status == 200
    assert answer["metrics"]["stalls"] == {
        "values": [[0, pytest.approx(0.68)], [None, 0]],
        "coverage_ratio": 0.5,
        "coverage": [[1, 1], [0, 1]],
    }
    assert answer["metrics"]["hops"]["values"] == [[0, 1], [1, 0]]
    assert answer["coordinates"] == [[0, 0, 6], [1, 0, 6]]
    assert answer["age_s"] == 0


def test_large_question_is_answered(serve) -> None:
    running = serve()
    nodes = list(running.oracle.topology.hosts) * 3

    status, answer = running.ask("POST", "/v1/query", {"nodes": nodes, "metrics": ["hops"]})

    assert status == 200 and np.shape(answer["metrics"]["hops"]["values"]) == (288, 288)


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (b"{", 422, "Invalid JSON: EOF while parsing"),
        (b"[]", 422, "Input should be"),
        ({"nodes": []}, 422, "nodes: List should have at least 1 item"),
        ({"nodes": ["a"] * 2049}, 422, "nodes: List should have at most 2048 items"),
        ({"nodes": ["a"]}, 422, "host 'a' is not in "),
        ({"nodes": PAIR, "metrics": ["speed"]}, 422, "metrics: unknown 'speed'"),
        ({"nodes": PAIR, "reduce": "mean"}, 422, "reduce: Input should be 'min', 'max' or 'sum'"),
        ({"nodes": PAIR, "window_s": "x"}, 422, "window_s: Input should be a valid number"),
        ({"nodes": PAIR, "window_s": 1e9}, 422, "window_s: Input should be less than or equal"),
        ({"nodes": PAIR, "else": 1}, 422, "else: Extra inputs are not permitted"),
        (b" " * (2**19 + 1), 413, "a request may have 524288 bytes"),
        (b" " * (6 * 2**20), 413, "a request may have 524288 bytes"),
    ],
)
def test_malformed_request_is_refused_in_one_line(
    serve, body: Any, status: int, problem: str
) -> None:
    found, answer = serve().ask("POST", "/v1/query", body)

    assert found == status
    assert problem in answer["detail"] and "\n" not in answer["detail"]


def test_request_without_an_end_is_refused_by_its_size(serve) -> None:
    running = serve()
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as client:
        client.sendall(
            b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        for _ in range(10):
            client.sendall(piece)
        answer = client.recv(4096)

    assert answer.startswith(b"HTTP/1.1 413 ")


def test_who_knows_no_token_gets_no_answer(serve) -> None:
    running = serve(token="secret")

    assert running.ask("GET", "/health")[0] == 401
    assert running.ask("GET", "/metrics", Authorization="Bearer secre")[0] == 401
    assert running.ask("GET", "/docs", Authorization="Bearer secrets")[0] == 401
    assert running.ask("GET", "/health", Authorization="Bearer secret")[0] == 200


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time by which requests are limited, in seconds."""
    now_s = [0.0]
    limiter = functools.partial(Limiter, clock=lambda: now_s[0])
    monkeypatch.setattr("fairlead.watch.oracle.service.Limiter", limiter)
    return now_s


def test_flood_of_requests_is_refused_and_ends(clock: list[float], serve) -> None:
    running = serve(rate=5)

    statuses = [running.ask("GET", "/health")[0] for _ in range(30)]

    assert statuses == [200] * 5 + [429] * 25
    clock[0] += 0.5
    assert running.ask("GET", "/health")[0] == 200


@pytest.mark.parametrize("begun", [b"", b"GET /health HTTP/1.1\r\nHost:"])
def test_connection_without_a_whole_request_is_closed(serve, monkeypatch, begun: bytes) -> None:
    monkeypatch.setattr("fairlead.watch.oracle.serving.HEAD_S", 0.2)
    running = serve()

    with socket.create_connection(("127.0.0.1", running.port), timeout=60) as client:
        client.sendall(begun)

        assert client.recv(4096) == b""


def test_second_request_of_a_connection_has_its_own_time(serve, monkeypatch) -> None:
    monkeypatch.setattr("fairlead.watch.oracle.serving.HEAD_S", 0.2)
    connection = http.client.HTTPConnection("127.0.0.1", serve().port, timeout=60)
    for _ in range(2):
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        time.sleep(0.3)

    connection.sock.sendall(b"GET /hea")

    assert connection.sock.recv(4096) == b""
    connection.close()


def test_body_that_trickles_is_refused(serve, monkeypatch) -> None:
    monkeypatch.setattr("fairlead.watch.oracle.guarding.BODY_S", 0.3)
    running = serve()
    head = b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"

    with socket.create_connection(("127.0.0.1", running.port), timeout=0.05) as client:
        client.sendall(head)
        answer = b""
        while not answer:
            client.sendall(b" ")
            with contextlib.suppress(TimeoutError):
                answer = client.recv(4096)

    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.usefixtures("clock")
def test_large_questions_cost_more(serve) -> None:
    running = serve(rate=5)
    nodes = list(running.oracle.topology.hosts) * 3

    assert running.ask("POST", "/v1/query", {"nodes": nodes, "metrics": ["hops"]})[0] == 200
    status, answer = running.ask("GET", "/health")

    assert (status, answer["detail"]) == (429, "more than 5 requests a second")


def test_health_tells_of_sources(serve, tmp_path: Path) -> None:
    running = serve()
    assert running.ask("GET", "/health")[1]["status"] == "ok"

    (tmp_path / "ldms.txt").unlink()
    running.oracle.collector.read_all()
    status, answer = running.ask("GET", "/health")

    assert (status, answer["status"]) == (200, "degraded")
    assert answer["sources"][0]["problem"].endswith("ldms.txt: no such file")


def test_what_is_of_no_link_is_named_and_not_well(serve, tmp_path: Path) -> None:
    running = serve()
    (tmp_path / "ldms.txt").write_text(shares({((9, 9, 9), "X-"): 0.68}))
    running.oracle.collector.read_all()

    health = running.ask("GET", "/health")[1]
    answer = running.ask("POST", "/v1/query", {"nodes": PAIR})[1]

    assert health["status"] == "degraded"
    assert health["sources"][0]["unmatched"] == answer["unmatched"] == ["9,9,9 X-"]
    assert health["sources"][0]["num_unmatched"] == 1


def test_adapters_without_a_link_are_in_health_and_answers(serve) -> None:
    running = serve()
    running.oracle.collector.states[0].without_link = ["n1 mlx5_1:1"]

    health = running.ask("GET", "/health")[1]
    answer = running.ask("POST", "/v1/query", {"nodes": PAIR})[1]

    assert health["sources"][0]["without_link"] == answer["without_link"] == ["n1 mlx5_1:1"]


def test_metrics_are_given_to_prometheus(serve) -> None:
    text = serve().ask("GET", "/metrics")[1]

    lines = text.splitlines()
    assert 'fairlead_link_stalled_ratio{src="0,0,6 X+",dst="1,0,6 X-"} 0.68' in lines
    assert 'fairlead_oracle_sample_faults{kind="negative"} 0' in lines


def test_what_is_known_is_given_in_other_forms(serve) -> None:
    running = serve()

    ldms = running.ask("GET", "/v1/export/ldms")[1]
    labels = running.ask("GET", "/v1/export/labels")[1]

    assert "D f64          stalled                                    0.680000" in ldms
    assert (
        "kubectl label --overwrite node c1-0c0s6n0 fairlead.io/router=c1-0c0s6g0 "
        "fairlead.io/coordinates=1.0.6"
    ) in labels.splitlines()
    status, answer = running.ask("GET", "/v1/export/slurm")
    assert (status, answer["detail"]) == (422, "slurm: routes of a torus are no tree")


def test_nodes_are_listed_with_their_routers(serve) -> None:
    nodes = serve().ask("GET", "/v1/nodes")[1]["nodes"]

    assert nodes[0] == {"name": "c0-0c0s0n0", "router": "c0-0c0s0g0", "coordinates": [0, 0, 0]}


def test_client_asks_with_its_token(serve, monkeypatch) -> None:
    running = serve(token="secret")
    with pytest.raises(Error, match="answers 401 a token is needed"):
        ask_oracle(running.url, PAIR, ["stalls"])

    monkeypatch.setenv(TOKEN_VARIABLE, "secret")

    assert ask_oracle(running.url, PAIR, ["stalls"])["metrics"]["stalls"]["coverage_ratio"] == 0.5


def test_network_of_an_oracle_has_less_bandwidth_where_links_stall(serve, tmp_path: Path) -> None:
    running = serve()
    everywhere = {((x, 0, z), way): 0.0 for x in range(3) for z in range(8) for way in ("X-", "X+")}
    (tmp_path / "ldms.txt").write_text(shares({**everywhere, ((0, 0, 6), "X+"): 0.68}))
    running.oracle.collector.read_all()

    network = oracle_network(f"{running.url}?metric=stalls&window=600", PAIR)

    tile_Bps = 3.125e9 * 3 / 8
    np.testing.assert_allclose(
        network.bandwidth_Bps, [[np.inf, 0.32 * tile_Bps], [tile_Bps, np.inf]]
    )
    assert (network.origin["metric"], network.origin["age_s"]) == ("stalls", 0)


def test_network_of_an_oracle_has_the_links_that_pairs_share(serve) -> None:
    running = serve()
    # X comes before Z: both messages of the first host take the cable that stalls.
    line = [host(0, 0, 6), host(1, 0, 6), host(1, 0, 7)]

    network = oracle_network(f"{running.url}?metric=stalls&window=600", line)

    tile_Bps = 3.125e9 * 3 / 8
    shared = {tuple(map(tuple, group.pairs.tolist())): group for group in network.groups}
    assert shared[(0, 1), (0, 2)].capacity_Bps == pytest.approx(0.32 * tile_Bps)
    assert shared[(0, 2), (1, 2)].capacity_Bps == pytest.approx(tile_Bps)
    assert network.nic_out_Bps.tolist() == [6e9] * 3  # of a Gemini, the importer's


@pytest.mark.parametrize(
    ("nodes", "metric", "problem"),
    [
        (PAIR, "speed", "shared_links_by: unknown 'speed'; there are hops, "),
        (PAIR * 129, "bw", "shared_links_by: expected at most 256 nodes, got 258"),
    ],
)
def test_question_about_shared_links_that_is_none_is_refused(serve, nodes, metric, problem) -> None:
    with pytest.raises(Error, match=problem):
        ask_oracle(serve().url, nodes, ["stalls"], shared_links_by=metric)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("http://h?metric=x", "metric must be one of hops, bw, stalls, free_Bps, latency_s"),
        ("http://h?speed=x", "unknown option 'speed'; there are metric, reduce, window"),
        ("http://h?window=x", "window must be a number of seconds"),
        ("h", "h: expected http://HOST:PORT"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9/v1/query: cannot be reached"),
    ],
)
def test_source_of_a_network_that_is_none_is_named(source: str, problem: str) -> None:
    with pytest.raises((InputError, Error), match=problem):
        oracle_network(source, ["a"])


def test_topology_alone_is_a_network_by_hops(tmp_path: Path) -> None:
    topology(tmp_path, 3, 2, 8).save(tmp_path / "torus.topo.npz")
    nodes = [host(0, 0, 6), "c0-0c0s6n1", host(1, 0, 7)]
    source = network_source(f"{tmp_path}/torus.topo.npz", Measuring(lambda: pytest.fail("probed")))

    network = network_from(source, Cluster.uniform(nodes, 1))

    assert isinstance(network, Network)
    tile_Bps = 3.125e9 * 3 / 8
    assert network.bandwidth_Bps[0].tolist() == [np.inf, tile_Bps, tile_Bps / 3]


def test_hops_cost_time_and_bandwidth() -> None:
    hops = np.array([[0.0, 3.0], [1.0, 0.0]])

    network = cost_network(["a", "b"], "hops", hops, hops, np.full((2, 2), np.nan))

    np.testing.assert_allclose(network.bandwidth_Bps, [[np.inf, 2.5e8], [5e8, np.inf]])
    np.testing.assert_allclose(network.latency_s, [[0, 4e-6], [2e-6, 0]])


def test_running_program_gets_its_next_tasks(serve) -> None:
    running = serve()
    program = {"host_of_process": PAIR, "task_of_process": [1, 0], "sent": [[1, 0, 1e6]]}

    status, answer = running.ask("POST", "/v1/remap?metric=hops&method=blocked", program)

    assert status == 200
    assert answer["task_of_process"] == [1, 0]
    assert answer["now_s"] == answer["then_s"] > 0
    assert answer["reason"].startswith("it would save less than")


def test_method_oracle_maps_by_the_metric_and_predicts_no_times(serve) -> None:
    # Two tasks that exchange much share a node with one that they do not know.
    hosts = [PAIR[0], PAIR[1], PAIR[0], PAIR[1]]
    sent = [[0, 1, 1e6], [1, 0, 1e6], [2, 3, 1e6], [3, 2, 1e6]]
    program = {"host_of_process": hosts, "task_of_process": [0, 1, 2, 3], "sent": sent}

    status, answer = serve().ask("POST", "/v1/remap?metric=hops&method=oracle", program)

    assert status == 200
    host_of_task = dict(zip(answer["task_of_process"], hosts, strict=True))
    assert host_of_task[0] == host_of_task[1] != host_of_task[2] == host_of_task[3]
    assert [answer[name] for name in ("now_s", "then_s", "move_s")] == [None] * 3
    assert answer["reason"].startswith("by hops the messages cost 0, before ")


def test_program_that_cannot_be_is_refused(serve) -> None:
    program = {"host_of_process": PAIR, "task_of_process": [0, 0], "sent": []}

    status, answer = serve().ask("POST", "/v1/remap", program)

    assert (status, answer) == (422, {"detail": "task_of_process: expected each of 0 to 1 once"})
