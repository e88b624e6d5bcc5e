# SPDX-License-Identifier: Apache-2.0
"""What engines say along with their samples: that some are missing, or that the network is ill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairlead.measure.metrics import open_source
from fairlead.measure.metrics.mapped_prometheus import MappedSource
from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.measure.metrics.prometheus_api import PrometheusApi
from fairlead.measure.topologies.switch_tree import tree_topology
from fairlead.report import oracle_view
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.collecting import Collector
from fairlead.watch.oracle.source_check import check_sources

# Thanos, components/query.md, partial response: `warnings` as in Prometheus' HTTP API, of a store
# that does not answer.
GONE = (
    "No StoreAPIs matched for this query: fetch series for {replica: 0} "
    "Addr: 10.0.0.7:10901: rpc error: code = Unavailable desc = connection refused"
)
RECEIVED = "node_network_receive_bytes_total"


def answer(*series: dict[str, Any], **further: Any) -> dict[str, Any]:
    data = {"resultType": "matrix", "result": list(series)}
    return {"status": "success", "data": data, **further}


def received(host: str, *values: int) -> dict[str, Any]:
    labels = {"__name__": RECEIVED, "device": "eth0", "host": host}
    return {"metric": labels, "values": [[at, str(value)] for at, value in enumerate(values)]}


class Server(PrometheusSource):
    """Gives one answer to all questions."""

    def __init__(self, content: dict[str, Any]):
        super().__init__("http://thanos")
        self.content = content

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return self.content


@pytest.mark.parametrize(
    ("further", "warnings"),
    [
        ({"warnings": [GONE]}, [f"warns, and samples may be missing: {GONE}"]),
        ({"warnings": ["a\nb", "a b"]}, ["warns, and samples may be missing: a b"]),
        ({"warnings": ["x" * 999]}, [f"warns, and samples may be missing: {'x' * 300}"]),
        # VictoriaMetrics, cluster version: storage nodes that do not answer.
        ({"isPartial": True}, ["gives a part of the samples alone (isPartial)"]),
        ({"isPartial": False, "warnings": []}, []),
        ({"warnings": None, "infos": ["metric might not be a counter"]}, []),
        ({"warnings": "text"}, ["warns, and samples may be missing: text"]),
    ],
)
def test_an_engine_s_warnings_are_kept_and_its_samples_count(
    further: dict[str, Any], warnings: list[str]
) -> None:
    source = Server(answer(received("a", 1, 2), **further))

    (series,) = source.read(3.0, 60.0)

    assert series.values.tolist() == [1, 2]
    assert list(source.warnings) == [f"prometheus:http://thanos: {line}" for line in warnings]


def test_warnings_of_an_earlier_answer_are_gone_with_the_next() -> None:
    source = Server(answer(received("a", 1, 2), warnings=[GONE]))
    source.read(3.0, 60.0)

    source.content = answer(received("a", 1, 2))
    source.read(3.0, 60.0)

    assert list(source.warnings) == []


def test_mapped_series_have_the_warnings_of_their_answers_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = '[[series]]\nmetric = "{}"\nquantity = "carried_bytes"\nlink = "out"\nhost = "{{host}}"'
    (tmp_path / "map.toml").write_text("\n".join(entry.format(name) for name in ("x", "y")))
    monkeypatch.setattr(
        PrometheusApi, "fetch", lambda *_: answer(received("a", 1), warnings=[GONE])
    )
    source = open_source("prom:http://thanos", metric_map=tmp_path / "map.toml")
    assert isinstance(source, MappedSource)

    assert len(source.read(3.0, 60.0)) == 1

    assert list(source.warnings) == [
        f"prom:http://thanos: warns, and samples may be missing: {GONE}"
    ]


def test_dry_run_shows_warnings() -> None:
    topology = tree_topology({"a": ["rack"], "b": ["rack"]}, {"how": "test"}, "test")
    source = Server(answer(received("a", 1, 2), warnings=[GONE]))

    (check,) = check_sources(Oracle(topology).store, [source], 60.0)

    assert any("prometheus:http://thanos: warns" in line for line in oracle_view.check_lines(check))


def test_service_reports_a_warning_once_until_it_is_gone() -> None:
    topology = tree_topology({"a": ["rack"], "b": ["rack"]}, {"how": "test"}, "test")
    source = Server(answer(received("a", 1, 2), warnings=[GONE]))
    lines: list[str] = []
    collector = Collector(Oracle(topology).store, [source], window_s=60.0, report=lines.append)

    for warnings in ([GONE], [GONE], [], [GONE]):
        source.content = answer(received("a", 1, 2), warnings=warnings)
        collector.read_all()

    assert len([line for line in lines if "warns" in line]) == 2
    assert collector.states[0].warnings == list(source.warnings)


def efa(name: str, host: str, *values: int) -> dict[str, Any]:
    labels = {
        "__name__": f"node_amazonefa_{name}",
        "device": "rdmap0s6",
        "port": "1",
        "instance": f"{host}:9100",
    }
    return {"metric": labels, "values": [[at, str(value)] for at, value in enumerate(values)]}


def test_impaired_connections_of_efa_are_reported_while_they_grow() -> None:
    # AWS, EC2 user guide, monitoring of an Elastic Fabric Adapter: what each counts.
    source = Server(
        answer(
            efa("tx_bytes", "a", 1, 2),
            efa("impaired_remote_conn_events", "a", 5, 5, 7),
            efa("impaired_remote_conn_events", "b", 7, 7, 7),
            efa("unresponsive_remote_events", "b", 0, 1),
            efa("retrans_timeout_events", "b", 3, 0, 0),
        )
    )

    series = source.read(3.0, 60.0)

    # The host's interface, and the adapter's port by its own name.
    assert {one.owner for one in series} == {"a"} and len(series) == 2
    assert list(source.warnings) == [
        "prometheus:http://thanos: a rdmap0s6: connections that run at a reduced rate "
        "(node_amazonefa_impaired_remote_conn_events)",
        "prometheus:http://thanos: b rdmap0s6: peers that did not answer "
        "(node_amazonefa_unresponsive_remote_events)",
    ]


def test_events_of_efa_are_asked_for() -> None:
    source = Server(answer())
    asked: list[str] = []

    def fetch(path: str, form: Mapping[str, str]) -> Any:
        asked.append(form["query"])
        return answer()

    source._fetch = fetch  # type: ignore[method-assign]
    source.read(3.0, 60.0)

    assert "node_amazonefa_impaired_remote_conn_events" in asked[0]
