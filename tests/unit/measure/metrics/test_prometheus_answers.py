# SPDX-License-Identifier: Apache-2.0
"""Answers of Prometheus' HTTP API, good ones and bad ones."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.errors import Error
from fairlead.measure.metrics import Quantity, open_source
from fairlead.measure.metrics.http import fetch_json, headers_from
from fairlead.measure.metrics.prometheus import METRICS, PrometheusSource

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle" / "prometheus"
RECEIVED = "node_network_receive_bytes_total"


class Engine(http.server.ThreadingHTTPServer):
    """Answers every question with what a test put in; keeps what it was asked."""

    answer = b""
    status = 200
    cut = 0
    asked: list[tuple[str, dict[str, str], dict[str, str]]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        engine = self.server
        assert isinstance(engine, Engine)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        engine.asked.append(
            (self.path, dict(urllib.parse.parse_qsl(body)), dict(self.headers.items()))
        )
        self.send_response(engine.status)
        self.send_header("Content-Length", str(len(engine.answer)))
        self.end_headers()
        self.wfile.write(engine.answer[: len(engine.answer) - engine.cut])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def result(*series: tuple[dict[str, str], list[list[Any]]]) -> bytes:
    entries = [{"metric": labels, "values": samples} for labels, samples in series]
    data = {"resultType": "matrix", "result": entries}
    return json.dumps({"status": "success", "data": data}).encode()


def test_raw_samples_are_asked_for(engine: Engine) -> None:
    engine.answer = result()

    PrometheusSource(
        f"{engine.url}/prefix/", headers={"Authorization": "Bearer x"}, selector='job="n"'
    ).read(1000.0, 60.0)

    (path, form, headers), (_, facts, _) = engine.asked
    assert path == "/prefix/api/v1/query" and facts["query"].endswith(',job="n"}')
    assert form["query"].endswith(',job="n"}[60s]') and form["time"] == "1000.000"
    assert headers["Authorization"] == "Bearer x"


def test_range_is_asked_for_where_a_step_is_given(engine: Engine) -> None:
    engine.answer = result()

    open_source(f"prometheus:{engine.url}?step=15s").read(1000.0, 60.0)

    (path, form, _), _ = engine.asked
    assert path == "/api/v1/query_range"
    assert (form["start"], form["end"], form["step"]) == ("940.000", "1000.000", "15")


def test_interfaces_have_the_names_that_node_exporter_gives_them() -> None:
    names = (GOLDEN / "node_exporter_1.5.0_network_metric_names.txt").read_text().split()

    asked = [name for name in METRICS if name.startswith("node_network_")]

    assert len(asked) == 5 and set(asked) <= set(names)


def test_interfaces_of_a_host_are_devices_of_one_port(engine: Engine) -> None:
    engine.answer = result(
        ({"__name__": RECEIVED, "device": "eth0", "host": "a"}, [[1, "10"], [2, "20"], [3, "30"]]),
        ({"__name__": RECEIVED, "device": "eth1", "host": "a"}, [[2, "1"], [3, "2"]]),
        ({"__name__": RECEIVED, "device": "lo", "host": "a"}, [[2, "99"], [3, "99"]]),
        ({"__name__": RECEIVED, "device": "eth0", "instance": "b:9100"}, [[2, "5"]]),
    )

    first, second, other = PrometheusSource(engine.url).read(3.0, 60.0)

    assert (first.port, first.is_into, first.device) == ("host a", True, "eth0")
    assert (first.times_s.tolist(), first.values.tolist()) == ([1, 2, 3], [10, 20, 30])
    assert (second.port, second.device, second.values.tolist()) == ("host a", "eth1", [1, 2])
    assert (other.port, other.values.tolist()) == ("host b", [5])


def received(samples: list[list[Any]], **labels: str) -> tuple[dict[str, str], list[list[Any]]]:
    return {"__name__": RECEIVED, "device": "eth0", **labels}, samples


def test_hosts_of_a_federated_prometheus_are_those_that_it_scraped(engine: Engine) -> None:
    # Without honor_labels: Prometheus, configuration.
    engine.answer = result(
        received([[1, "10"]], instance="other:9090", exported_instance="a:9100"),
        received([[1, "20"]], instance="other:9090", exported_instance="b:9100"),
    )

    series = PrometheusSource(engine.url).read(3.0, 60.0)

    assert {one.port: one.values.tolist() for one in series} == {"host a": [10], "host b": [20]}


@pytest.mark.parametrize("label", ["host", "node", "nodename"])
def test_label_that_all_hosts_share_names_none_of_them(engine: Engine, label: str) -> None:
    engine.answer = result(
        received([[1, "10"]], instance="a:9100", **{label: "cluster"}),
        received([[1, "20"]], instance="b:9100", **{label: "cluster"}),
    )

    series = PrometheusSource(engine.url).read(3.0, 60.0)
    chosen = PrometheusSource(engine.url, host_label=label).read(3.0, 60.0)

    assert {one.port: one.values.tolist() for one in series} == {"host a": [10], "host b": [20]}
    assert {one.port for one in chosen} == {"host cluster"}


def test_replica_that_goes_on_counts_instead_of_one_that_has_ended(engine: Engine) -> None:
    ended = [[at, str(at)] for at in range(0, 300, 10)]
    going = [[at, str(at)] for at in range(350, 600, 10)]
    engine.answer = result(
        received(going, instance="a:9100", replica="1"),
        received(ended, instance="a:9100", replica="0"),
    )

    (series,) = PrometheusSource(engine.url).read(600.0, 600.0)

    assert series.times_s.tolist() == [at for at, _ in going]


def test_replica_of_one_sample_has_no_rate_yet(engine: Engine) -> None:
    engine.answer = result(
        received([[at, "1"] for at in (0, 10, 20)], instance="a:9100", replica="0"),
        received([[90, "1"]], instance="a:9100", replica="1"),
    )

    (series,) = PrometheusSource(engine.url).read(90.0, 600.0)

    assert series.times_s.tolist() == [0, 10, 20]


def test_series_without_an_instance_are_named_so(engine: Engine) -> None:
    engine.answer = result(received([[1, "10"]]))

    (series,) = PrometheusSource(engine.url).read(3.0, 60.0)

    assert series.owner == "(no instance)"


def test_speed_of_2_to_the_32_megabits_is_unknown(engine: Engine) -> None:
    labels = {"__name__": "node_network_speed_bytes", "device": "eth0", "instance": "a:9100"}
    bond = {**labels, "device": "bond0"}
    engine.answer = result((labels, [[1, "1.25e9"]]), (bond, [[1, str(4294967295 * 125000)]]))

    series = PrometheusSource(engine.url, devices=["*"]).read(3.0, 60.0)

    speeds = {one.device: one.values[0] for one in series}
    assert speeds["eth0"] == 1.25e9 and np.isnan(speeds["bond0"])


def test_cable_of_infiniband_is_recognised_by_its_ports(engine: Engine) -> None:
    labels = {"local_guid": "0x00000a01", "local_port": "1", "remote_guid": "0x1001"}
    engine.answer = result(
        ({"__name__": "infiniband_portxmitdata_total", **labels}, [[1, "100"]]),
        ({"__name__": "infiniband_portrcvdata_total", **labels}, [[1, "200"]]),
        ({"__name__": "infiniband_portxmitwait_total", **labels}, [[1, "250000000"]]),
    )

    series = PrometheusSource(engine.url).read(1, 60)

    assert {one.key: float(one.values[0]) for one in series} == {
        ("a01:1", False, Quantity.carried_bytes): 400,
        ("a01:1", True, Quantity.carried_bytes): 800,
        ("a01:1", False, Quantity.stalled_s): 1.0,
    }


def test_series_without_a_port_cost_none_of_the_others(engine: Engine) -> None:
    octets = {"__name__": "ifHCInOctets", "instance": "leaf1"}
    bad_guid = {"__name__": "infiniband_portxmitdata_total", "local_guid": "x", "local_port": "1"}
    engine.answer = result(
        ({**octets, "ifIndex": "7"}, [[1, "1"]]),
        ({**octets, "ifName": "swp1"}, [[1, "5"]]),
        ({**octets, "ifIndex": "9"}, [[1, "1"]]),
        (bad_guid, [[1, "1"]]),
    )
    source = PrometheusSource(engine.url)

    (series,) = source.read(3.0, 60.0)

    assert (series.port, series.values.tolist()) == ("interface leaf1 swp1", [5])
    assert [line.removeprefix(f"{source.name}: ") for line in source.skipped] == [
        "ifHCInOctets: its labels name no port: 'ifName' (and 1 more series)",
        "infiniband_portxmitdata_total: its labels name no port: invalid literal for int() with "
        "base 16: 'x'",
    ]


def test_tick_of_waiting_packets_is_what_the_user_says(engine: Engine) -> None:
    labels = {"local_guid": "0x00000a01", "local_port": "1"}
    engine.answer = result(
        ({"__name__": "infiniband_portxmitwait_total", **labels}, [[1, "250000000"]])
    )

    (series,) = open_source(f"prometheus:{engine.url}?tick=8ns").read(1, 60)

    assert series.values[0] == pytest.approx(2.0)


def test_empty_result_is_missing(engine: Engine) -> None:
    engine.answer = result()

    assert PrometheusSource(engine.url).read(1, 60) == []


def test_series_without_a_known_name_is_missing(engine: Engine) -> None:
    # What a function of PromQL gave: its samples are zeros, and its name is gone.
    engine.answer = (GOLDEN / "range.json").read_bytes()

    assert PrometheusSource(engine.url).read(1, 60) == []


def test_stale_marker_is_no_value(engine: Engine) -> None:
    labels = {"__name__": "infiniband_portxmitdata_total", "local_guid": "0x1", "local_port": "2"}
    engine.answer = result((labels, [[1, "1"], [2, "NaN"], [3, "+Inf"]]))

    (series,) = PrometheusSource(engine.url).read(3, 60)

    np.testing.assert_equal(series.values, [4.0, np.nan, np.nan])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((GOLDEN / "error.json").read_bytes(), "1:6: parse error: unclosed left parenthesis"),
        ((GOLDEN / "instant.json").read_bytes(), "expected samples, got 'vector'"),
        (b'{"status": "success"}', "is not the answer of Prometheus: KeyError"),
        (b"<html>", "the answer is not JSON, or not all of it"),
        (b"[]", "no object"),
        (
            result(({"__name__": "infiniband_portxmitdata_total"}, [[1, "1"]])),
            "infiniband_portxmitdata_total: its labels name no port: 'local_guid'",
        ),
    ],
)
def test_answer_that_is_none_is_named(engine: Engine, answer: bytes, problem: str) -> None:
    engine.answer = answer

    with pytest.raises(Error, match=problem) as failed:
        PrometheusSource(engine.url).read(1, 60)

    assert engine.url in str(failed.value) and "\n" not in str(failed.value)


def test_half_an_answer_is_named(engine: Engine) -> None:
    engine.answer, engine.cut = result(), 10

    with pytest.raises(Error, match=r"the answer ends after \d+ of \d+ bytes|cannot be reached"):
        PrometheusSource(engine.url, timeout_s=2).read(1, 60)


def test_status_of_an_error_is_reported_with_its_reason(engine: Engine) -> None:
    engine.status, engine.answer = 422, (GOLDEN / "error.json").read_bytes()

    with pytest.raises(Error, match=r"answers 422 invalid parameter .*unclosed left parenthesis"):
        PrometheusSource(engine.url).read(1, 60)


def test_engine_that_is_gone_is_named() -> None:
    with pytest.raises(Error, match=r"http://127.0.0.1:9/api/v1/query: cannot be reached: "):
        PrometheusSource("http://127.0.0.1:9").read(1, 60)


def test_slow_engine_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Error, match="cannot be reached: timed out"):
            PrometheusSource(url, timeout_s=0.2).read(1, 60)


def test_engine_that_trickles_is_named() -> None:
    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.02)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(Error, match=r"cannot be reached: not all of its answer came within"):
            fetch_json(url, timeout_s=60, whole_s=0.3)
    thread.join()


def test_password_in_the_url_is_sent_as_a_header_and_shown_nowhere(engine: Engine) -> None:
    engine.answer = result()
    place = engine.url.removeprefix("http://")

    source = open_source(f"prometheus:http://us%40er:pa:ss@{place}/p")
    source.read(1, 60)

    (path, _, headers), *_ = engine.asked
    assert path == "/p/api/v1/query"
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"us@er:pa:ss").decode()
    assert source.name == f"prometheus:{engine.url}/p"


def test_header_of_the_user_comes_before_the_password_of_the_url(engine: Engine) -> None:
    engine.answer = result()
    place = engine.url.removeprefix("http://")

    open_source(f"prometheus:http://a:b@{place}", {"Authorization": "Bearer x"}).read(1, 60)

    assert engine.asked[0][2]["Authorization"] == "Bearer x"


@pytest.mark.parametrize("kind", ["prometheus", "prom"])
def test_no_error_of_a_source_shows_its_password(kind: str) -> None:
    with pytest.raises(Error) as failed:
        open_source(f"{kind}:http://user:secret@127.0.0.1:9").read(1, 60)

    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    "answer",
    [
        b"Content-Length: some\r\n\r\n[1]",
        b"Content-Length: 900\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n",
    ],
)
def test_length_that_does_not_count_is_passed_over(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer_once, args=(listener, answer), daemon=True)
        thread.start()
        assert fetch_json(f"http://127.0.0.1:{listener.getsockname()[1]}") == [1]
    thread.join()


def answer_once(listener: socket.socket, answer: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + answer)


def test_headers_are_those_that_the_user_wrote(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")

    headers = headers_from(["X-Scope-OrgID: site: a"], tmp_path / "token")

    assert headers == {"X-Scope-OrgID": "site: a", "Authorization": "Bearer secret"}
    with pytest.raises(Error, match="header: expected NAME:CONTENT, got 'X-Scope-OrgID'"):
        headers_from(["X-Scope-OrgID"])
