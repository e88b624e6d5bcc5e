# SPDX-License-Identifier: Apache-2.0
"""LDMS' samplers of InfiniBand and Omni-Path give ports of adapters, and of switches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairlead.measure.metrics import Quantity
from fairlead.measure.metrics.ldms import parse, series_of

# Words of four octets, and ticks that are taken as 4 ns.
RECEIVED, SENT, WAITED = 1000, 2000, 500_000_000
KERNEL = {"port_rcv_data": RECEIVED, "port_xmit_data": SENT, "port_xmit_wait": WAITED}
LIBIBMAD = {"PortRcvData": RECEIVED, "PortXmitData": SENT}


def metric_set(name: str, data: dict[str, Any]) -> str:
    return json.dumps(
        {
            "name": name,
            "transaction_timestamp": {"sec": 1700000000, "usec": 0},
            "is_consistent": True,
            "data": data,
        }
    )


def values(*sets: str) -> dict[tuple[str, str, bool, Quantity], float]:
    found = series_of(parse("\n".join(sets), "text"))
    return {(one.device, *one.key): float(one.values[-1]) for one in found}


ONE_PORT = {
    ("mlx5_0:1", "host n1", True, Quantity.carried_bytes): 4000,
    ("mlx5_0:1", "host n1", False, Quantity.carried_bytes): 8000,
    ("mlx5_0:1", "host n1", False, Quantity.stalled_s): 2,
}
BY_ITS_OWN_NAME = {
    ("", "host n1 infiniband mlx5_0:1", *key[2:]): value for key, value in ONE_PORT.items()
}


@pytest.mark.parametrize(
    "text",
    [
        metric_set("n1/ibmad/mlx5_0.1", {"ca_name": "mlx5_0", "port": 1, **KERNEL}),
        metric_set("n1/ibmad", {"ib_nics": [{"ca_name": "mlx5_0", "port": 1, **KERNEL}]}),
        metric_set(
            "n1/sysclassib", {f"ib.{name}#mlx5_0.1": value for name, value in KERNEL.items()}
        ),
    ],
    ids=["ibmad_sampler", "ibmad_records_sampler", "sysclassib"],
)
def test_an_adapter_is_read_from_each_sampler(text: str) -> None:
    assert values(text) == ONE_PORT | BY_ITS_OWN_NAME


def test_an_adapter_of_omni_path_has_bytes_only() -> None:
    text = metric_set("n1/hfi1_0/1", {"ca_name": "hfi1_0", "port": 1, **LIBIBMAD})

    assert values(text) == {
        (device, port, is_into, Quantity.carried_bytes): value
        for device, port in (("hfi1_0:1", "host n1"), ("", "host n1 infiniband hfi1_0:1"))
        for is_into, value in ((True, 4000), (False, 8000))
    }


ROWS = [{"ca_name": f"mlx5_{number}", "port": 1, **KERNEL} for number in (0, 1)]


@pytest.mark.parametrize(
    "sets",
    [
        [metric_set("n1/ibmad", {"ib_nics": ROWS})],
        [metric_set(f"n1/ibmad/mlx5_{number}.1", ROWS[number]) for number in (0, 1)],
    ],
    ids=["one set", "a set each"],
)
def test_two_ports_that_wait_share_the_time_of_their_host(sets: list[str]) -> None:
    waited = {
        key[:2]: value for key, value in values(*sets).items() if key[3] is Quantity.stalled_s
    }
    assert waited == {
        ("mlx5_0:1", "host n1"): 1,
        ("mlx5_1:1", "host n1"): 1,
        ("", "host n1 infiniband mlx5_0:1"): 2,
        ("", "host n1 infiniband mlx5_1:1"): 2,
    }


def test_interfaces_of_the_kernel_do_not_count_where_there_are_adapters() -> None:
    interface = {"device": "eth0", "rx_bytes": 7, "tx_bytes": 8}
    adapter = metric_set("n1/ibmad/mlx5_0.1", {"ca_name": "mlx5_0", "port": 1, **KERNEL})

    found = values(
        metric_set("n1/procnet/eth0", interface), metric_set("n2/procnet/eth0", interface), adapter
    )

    assert {key[0] for key in found if key[1] == "host n1"} == {"mlx5_0:1"}
    assert {key[0] for key in found if key[1] == "host n2"} == {"eth0"}


def test_a_port_that_never_carried_anything_does_not_hide_ethernet() -> None:
    interface = metric_set("n1/procnet/eth0", {"device": "eth0", "rx_bytes": 7, "tx_bytes": 8})
    idle = {f"ib.{name}#mlx5_0.1": 0 for name in KERNEL}

    found = values(interface, metric_set("n1/sysclassib", idle))

    assert {key[0] for key in found if key[1] == "host n1"} == {"eth0"}


@pytest.mark.parametrize(
    ("node", "port"),
    [
        ("0xe41d2d0300a1b2c3", "e41d2d0300a1b2c3:17"),
        ("00000d0300a1b2c3", "d0300a1b2c3:17"),
        ("leaf-3", "leaf-3:17"),
    ],
)
def test_a_port_of_a_switch_has_the_name_of_its_guid(node: str, port: str) -> None:
    text = metric_set(
        f"{node}/17/ibnet_5f", {"remote": "12.17", "lid": 12, "port": 17, **LIBIBMAD,
                                "PortXmitWait": WAITED}
    )  # fmt: skip

    assert values(text) == {
        ("", port, True, Quantity.carried_bytes): 4000,
        ("", port, False, Quantity.carried_bytes): 8000,
        ("", port, False, Quantity.stalled_s): 2,
    }


def test_a_counter_of_32_bits_begins_again() -> None:
    text = metric_set("n1/ibmad/mlx5_0.1", {"ca_name": "mlx5_0", "port": 1, **KERNEL})
    largest = {
        one.quantity: one.largest for one in series_of(parse(text, "text")) if not one.device
    }

    assert largest == {
        Quantity.carried_bytes: 2.0**66,
        Quantity.stalled_s: pytest.approx(2.0**32 * 4e-9),
    }
