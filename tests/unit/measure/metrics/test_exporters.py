# SPDX-License-Identifier: Apache-2.0
"""What known exporters count of which link, and what of it counts where several do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.errors import Error
from fairlead.measure.metrics import Quantity, Series, open_source
from fairlead.measure.metrics.exporters import EXPORTERS, METRICS, NAMES
from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.watch.oracle.samples import SampleStore

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "metrics.md"


class Answers(PrometheusSource):
    """A source whose server answers with these series of two samples."""

    def __init__(self, *series: tuple[dict[str, str], float, float], **options: Any):
        super().__init__("http://monitor", **options)
        self._given = series

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        result = [
            {"metric": {"instance": "n1:9100", **labels}, "values": [[0, str(a)], [10, str(b)]]}
            for labels, a, b in self._given
        ]
        return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def series(name: str, first: float, last: float, /, **labels: str) -> Any:
    return {"__name__": name, **labels}, first, last


def growth(found: list[Series], port: str = "host n1") -> dict[tuple[bool, Quantity], float]:
    total: dict[tuple[bool, Quantity], float] = {}
    for one in found:
        if one.port == port:
            key = one.is_into, one.quantity
            total[key] = total.get(key, 0.0) + float(one.values[-1] - one.values[0])
    return total


def test_every_metric_is_of_one_exporter_and_each_has_a_row_in_the_reference() -> None:
    assert len(METRICS) == sum(len(exporter.metrics) for exporter in EXPORTERS)
    text = " ".join(PAGE.read_text().split())
    for exporter in EXPORTERS:
        assert f"| {exporter.name} |" in text, exporter.name


PFC = series("node_ethtool_received_prio3_pause_duration", 0, 2e6, device="eth0")
KERNEL = series("node_network_receive_bytes_total", 0, 500, device="eth0")
ADAPTER = series(
    "node_infiniband_port_data_received_bytes_total", 1, 7001, device="mlx5_0", port="1"
)


def test_pauses_of_ethernet_count_where_messages_take_an_adapter_and_its_bytes_do_not() -> None:
    found = growth(Answers(PFC, KERNEL, ADAPTER).read(10, 10))

    assert found == {(True, Quantity.carried_bytes): 7000, (False, Quantity.stalled_s): 2.0}


def test_bytes_of_the_physical_port_stand_for_those_of_the_kernel() -> None:
    physical = series("node_ethtool_received_bytes_phy", 0, 900, device="eth0")

    assert growth(Answers(KERNEL, physical).read(10, 10)) == {(True, Quantity.carried_bytes): 900}


def test_two_ports_that_stall_all_the_time_stall_the_host_all_the_time_and_not_twice() -> None:
    ticks = [
        series("node_infiniband_port_transmit_wait_total", 0, 2.5e9, device=name, port="1")
        for name in ("mlx5_0", "mlx5_1")
    ]
    moved = [
        series("node_infiniband_port_data_received_bytes_total", 0, 1, device=name, port="1")
        for name in ("mlx5_0", "mlx5_1")
    ]
    source = Answers(*ticks, *moved, tick_s=4e-9)

    assert growth(source.read(10, 10))[False, Quantity.stalled_s] == pytest.approx(10.0)


def test_marked_packets_count_before_the_notifications_that_answer_them() -> None:
    labels = {"device": "mlx5_0", "port": "1"}
    notified = series("node_infiniband_np_cnp_packets_sent_total", 0, 5, **labels)
    marked = series("node_infiniband_np_ecn_marked_roce_packets_received_total", 0, 50, **labels)

    for given, expected in (((notified,), 5), ((notified, marked), 50)):
        found = growth(Answers(ADAPTER, *given).read(10, 10))
        assert found[True, Quantity.shaped_packets] == expected


def test_the_interface_of_a_switch_has_its_capacity_both_ways() -> None:
    labels = {"instance": "leaf1", "ifDescr": "Ethernet49", "ifIndex": "49"}
    found = Answers(series("ifHighSpeed", 100, 100, **labels)).read(10, 10)

    assert {one.port for one in found} == {"interface leaf1 Ethernet49"}
    assert sorted((one.is_into, one.values[-1]) for one in found) == [
        (False, 1.25e7),
        (True, 1.25e7),
    ]


@pytest.mark.parametrize(
    "begin", ["", "gnmic_", "gnmic_port_stats_", "gnmic_oc_openconfig_interfaces_"]
)
@pytest.mark.parametrize(
    "labels",
    [
        {"interface_name": "Ethernet1", "source": "leaf1:57400"},
        {"interface_name": "Ethernet1", "source": "leaf1"},
        {"name": "Ethernet1", "instance": "leaf1"},
    ],
)
def test_counters_of_openconfig_are_known_by_the_end_of_their_name(
    begin: str, labels: dict[str, str]
) -> None:
    name = f"{begin}interfaces_interface_state_counters_out_octets"
    below = f"{begin}interfaces_interface_subinterfaces_subinterface_state_counters_out_octets"
    source = Answers(series(name, 0, 100, **labels), series(below, 0, 7, **labels))

    found = source.read(0, 60)

    assert growth(found, "interface leaf1 Ethernet1") == {(False, Quantity.carried_bytes): 100}
    assert re.fullmatch(NAMES, name) and not re.fullmatch(NAMES, below)


def test_two_subscriptions_of_one_counter_count_once() -> None:
    labels = {"interface_name": "Ethernet1", "source": "leaf1"}
    names = [f"gnmic_{sub}_interfaces_interface_state_counters_in_octets" for sub in ("a", "b")]

    found = Answers(*(series(name, 0, 100, **labels) for name in names)).read(0, 60)

    assert growth(found, "interface leaf1 Ethernet1") == {(True, Quantity.carried_bytes): 100}


def test_an_interface_without_a_name_is_an_error_that_names_the_metric() -> None:
    with pytest.raises(Error, match=r"ifHCInOctets: its labels name no port: 'ifName'"):
        Answers(series("ifHCInOctets", 1, 2)).read(10, 10)


def slingshot(step: int, list_name: str, name: str) -> str:
    rows = [
        {name: f"cxi{nic}", "hni_sts_tx_ok_octets": 10**9 * step, "hni_tx_paused_0": 10**9 * step}
        for nic in range(2)
    ]
    return json.dumps(
        {
            "name": "n1/slingshot_metrics",
            "transaction_timestamp": {"sec": 1700000000 + step, "usec": 0},
            "is_consistent": True,
            "data": {list_name: rows},
        }
    )


@pytest.mark.parametrize(("list_name", "name"), [("nics", "name"), ("tel_list", "iface_name")])
def test_all_adapters_of_slingshot_are_read_from_either_sampler_of_ldms(
    tmp_path: Path, list_name: str, name: str
) -> None:
    file = tmp_path / "ldms.txt"
    source = open_source(f"ldms:{file}")
    interface = {
        "name": "n1/procnet/hsn0",
        "transaction_timestamp": {"sec": 1700000000, "usec": 0},
        "is_consistent": True,
        "data": {"device": "hsn0", "rx_bytes": 5, "tx_bytes": 6},
    }
    found = []
    for step in (1, 2):
        # The kernel's interface on the same port is not added to it.
        file.write_text(f"{slingshot(step, list_name, name)}\n{json.dumps(interface)}\n")
        found.append(source.read(0, 60))

    assert {one.device for one in found[0]} == {"cxi0", "cxi1"}
    grown = {
        (one.device, one.quantity): float(two.values[-1] - one.values[-1])
        for one, two in zip(*found, strict=True)
    }
    assert grown == {
        (device, quantity): pytest.approx(value)
        for device in ("cxi0", "cxi1")
        # Each of two adapters that is paused all the time is half of the host's time.
        for quantity, value in ((Quantity.carried_bytes, 1e9), (Quantity.stalled_s, 0.5))
    }


def test_a_rate_that_is_no_counter_is_a_mean() -> None:
    assert not Quantity.carried_Bps.is_counter
    labels = {"Hostname": "n1", "gpu": "3"}
    found = Answers(series("DCGM_FI_PROF_NVLINK_TX_BYTES", 1e9, 3e9, **labels)).read(10, 10)

    assert [one.port for one in found] == ["host n1 nvlink 3"]
    assert np.mean(found[0].values) == 2e9


@pytest.mark.parametrize(
    ("of_topology", "of_series", "port"),
    [
        ("leaf1", "leaf1.dc.example.com", "interface leaf1 swp1"),
        ("leaf1.dc.example.com", "leaf1", "interface leaf1.dc.example.com swp1"),
        ("leaf1", "LEAF1:161", "interface leaf1 swp1"),
        ("leaf1.a.org", "leaf1.b.org", None),
        ("10.0.0.1", "10.0.0.2", None),
    ],
)
def test_a_switch_is_the_same_with_its_domain_and_without(
    of_topology: str, of_series: str, port: str | None
) -> None:
    ports = {f"interface {of_topology} swp1": 0}
    found = Answers(
        series("ifHCInOctets", 0, 5, instance=of_series, ifName="swp1")
    ).read(10.0, 60.0)  # fmt: skip

    assert SampleStore(ports, ports).ports_of(found) == [port]


def test_switches_that_differ_in_their_domains_only_are_not_mixed() -> None:
    ports = {"interface leaf1 swp1": 0}
    found = Answers(
        series("ifHCInOctets", 0, 5, instance="leaf1.a.org", ifName="swp1"),
        series("ifHCInOctets", 0, 7, instance="leaf1.b.org", ifName="swp1"),
    ).read(10.0, 60.0)

    assert SampleStore(ports, ports).ports_of(found) == [None, None]
