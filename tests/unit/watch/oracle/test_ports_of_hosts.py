# SPDX-License-Identifier: Apache-2.0
"""What a host sends is counted once, at its physical ports, under whatever name it reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.measure.metrics import Quantity, Series
from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.measure.metrics.slingshot import CxiSource
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.watch.oracle import Oracle, Question
from fairlead.watch.oracle.host_names import HostNames

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"
NOW_S = 1_000_000.0
LINK_BPS = 1.25e9
TREE = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=root Switches=s[1-2]\n"
Entry = dict[str, Any]


def counter(name: str, rate: float, shift_s: float = 0.0, **labels: str) -> Entry:
    times = [NOW_S - 50 + 10 * step + shift_s for step in range(5)]
    values = [[at, str(1e12 + rate * (at - NOW_S + 60))] for at in times]
    return {"metric": {"__name__": name, **labels}, "values": values}


def gauge(name: str, value: float = 1, **labels: str) -> Entry:
    values = [[NOW_S - 50 + 10 * step, str(value)] for step in range(5)]
    return {"metric": {"__name__": name, **labels}, "values": values}


def nic(device: str, used: float, shift_s: float = 0.0, **labels: str) -> list[Entry]:
    """A device that sends and receives a share of 10 Gb/s."""
    labels = {"instance": "n1:9100", "device": device, **labels}
    return [
        *(
            counter(f"node_network_{way}_bytes_total", used * LINK_BPS, shift_s, **labels)
            for way in ("receive", "transmit")
        ),
        gauge("node_network_speed_bytes", LINK_BPS, **labels),
    ]


def facts(device: str, address: str = "", **numbers: int) -> list[Entry]:
    labels = {"instance": "n1:9100", "device": device}
    info = [gauge("node_network_info", address=address, **labels)] if address else []
    return info + [gauge(f"node_network_{n}", value, **labels) for n, value in numbers.items()]


class Recorded(PrometheusSource):
    """Answers all questions with the same entries."""

    def __init__(self, entries: Sequence[Entry], name: str = "monitor", **options: Any):
        super().__init__(f"http://{name}:9090", **options)
        self.entries = entries

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return {
            "status": "success",
            "data": {"resultType": "matrix", "result": list(self.entries)},
        }


def oracle(folder: Path, *sources: Any, text: str = TREE, lines: list[str] | None = None) -> Oracle:
    (folder / "topology.conf").write_text(text)
    topology = import_topology("slurm", Given(folder / "topology.conf"))
    report_line = (lambda line: None) if lines is None else lines.append
    found = Oracle(topology, sources, clock=lambda: NOW_S, report=report_line)
    found.collector.read_all()
    return found


def used(known: Oracle, src: str = "n1", dst: str = "n2") -> float:
    metric = known.ask(Question((src, dst), ("bw",))).metrics["bw"]
    return float(metric.values[0, 1])


MAC, OTHER = "aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02"
BOND = [*nic("eth0", 0.5), *nic("eth1", 0.5), *nic("bond0", 1.0)]
BOND[-1] = gauge("node_network_speed_bytes", 2 * LINK_BPS, instance="n1:9100", device="bond0")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(nic("eth0", 0.8), 0.8, id="one device"),
        pytest.param([*nic("eth0", 0.8), *nic("eth1", 0.2)], 0.5, id="two ports"),
        pytest.param([*nic("eth0", 0.8), *nic("eth1", 0.2, 3.7)], 0.5, id="other scrape times"),
        pytest.param([*nic("eth0", 0.8), *nic("veth1", 0.8), *nic("lo", 1)], 0.8, id="by name"),
        pytest.param(
            [
                *nic("ens1", 0.8), *nic("x7f", 0.8),
                *facts("ens1", MAC, iface_id=2, iface_link=2),
                *facts("x7f", OTHER, iface_id=9, iface_link=2),
            ],
            0.8, id="a CNI's device by what it sends by",
        ),
        pytest.param(
            [*nic("ens1", 0.8), *nic("storage", 0.8), *facts("ens1", MAC), *facts("storage", MAC)],
            0.8, id="VLAN or bridge by its address",
        ),
        pytest.param(
            [
                *nic("eth0", 0.8), *nic("enP1s1", 0.7),
                *facts("eth0", MAC), *facts("enP1s1", MAC, flags=0x1843),
            ],
            0.8, id="Azure's function below the device of the network",
        ),
        pytest.param(
            [
                *BOND, *facts("eth0", MAC), *facts("eth1", MAC), *facts("bond0", MAC),
                gauge("node_bonding_slaves", 2, instance="n1:9100", master="bond0"),
            ],
            0.5, id="bond of two ports",
        ),
        pytest.param(
            [
                *nic("eth0", 0.8), *nic("veth1", 0.8), *nic("docker0", 0.8),
                *facts("eth0", MAC), *facts("veth1", OTHER), *facts("docker0", "02:42:00:00:00:01"),
            ],
            0.8, id="by name where addresses differ",
        ),
        pytest.param(
            [*BOND, *facts("eth0", MAC), *facts("eth1", MAC), *facts("bond0", MAC)],
            0.5, id="bond by the address of its ports",
        ),
        pytest.param(
            [*BOND, gauge("node_bonding_slaves", 2, instance="n1:9100", master="bond0")],
            0.5, id="bond without addresses",
        ),
        pytest.param(
            [
                *nic("eth0", 0.8), *nic("eth1", 0.0), *nic("bond0", 0.8),
                *facts("eth0", MAC, flags=0x1843), *facts("eth1", OTHER, flags=0x1843),
                *facts("bond0", MAC, flags=0x1443),
                gauge("node_bonding_slaves", 2, instance="n1:9100", master="bond0"),
            ],
            0.8, id="bond whose members keep their addresses, as IPoIB needs",
        ),
        pytest.param(
            [
                *nic("eth0", 0.6), *nic("eth1", 0.4), *nic("team0", 1.0), *nic("team0.7", 1.0),
                *facts("eth0", MAC, flags=0x1003, name_assign_type=4, iface_id=2, iface_link=2),
                *facts("eth1", MAC, flags=0x1003, name_assign_type=4, iface_id=3, iface_link=3),
                *facts("team0", MAC, flags=0x1003, name_assign_type=3, iface_id=4, iface_link=4),
                *facts("team0.7", MAC, flags=0x1003, name_assign_type=3, iface_id=5, iface_link=4),
            ],
            0.5, id="team of two ports of one address",
        ),
        pytest.param(
            [
                *nic("ens3", 0.8), *nic("ens3nsby", 0.1), *nic("enp4s0", 0.7), *nic("br0", 0.8),
                *facts("ens3", MAC, flags=0x1003, name_assign_type=4),
                *facts("ens3nsby", MAC, flags=0x1003, name_assign_type=4),
                *facts("enp4s0", MAC, flags=0x1003, name_assign_type=4),
                *facts("br0", MAC, flags=0x1003, name_assign_type=3),
            ],
            0.8, id="bridge above a virtual function with its stand-by (net_failover)",
        ),
        pytest.param(
            [
                *nic("eth0", 0.8),
                *(
                    entry
                    for name in ("podman0", "vmbr0", "vnet0", "fwbr100i0", "nerdctl0", "tailscale0")
                    for entry in nic(name, 0.2)
                ),
            ],
            0.8, id="bridges and taps of further tools by their names",
        ),
        pytest.param(
            [
                *nic("ens1", 0.8), *nic("fabricbr", 0.8),
                *facts("ens1", MAC, name_assign_type=4),
                *facts("fabricbr", OTHER, name_assign_type=3),
            ],
            0.8, id="bridge by who named it",
        ),
        pytest.param(
            [
                *nic("ens1", 0.8), *nic("zz", 0.8),
                gauge("node_ethtool_info", instance="n1:9100", device="zz", driver="veth"),
            ],
            0.8, id="by its driver",
        ),
        pytest.param(
            [*nic("eth0", 0.8, job="a"), *nic("eth0", 0.8, job="b")], 0.8, id="two targets"
        ),
        pytest.param(
            [*nic("eth0", 0.8, replica="a"), *nic("eth0", 0.8, 4.0, replica="b")],
            0.8, id="two replicas",
        ),
        pytest.param(
            [*nic("eth0", 0.8), *nic("eth0", 0.8, instance="n1.cluster.local:9100")],
            0.8, id="one target by two names",
        ),
    ],
)  # fmt: skip
def test_every_byte_is_counted_once(tmp_path: Path, entries: list[Entry], expected: float) -> None:
    assert used(oracle(tmp_path, Recorded(entries))) == pytest.approx(expected, rel=1e-6)


def test_two_engines_tell_of_one_port(tmp_path: Path) -> None:
    first, second = Recorded(nic("eth0", 0.8), "a"), Recorded(nic("eth0", 0.8, 5.0), "b")

    assert used(oracle(tmp_path, first, second)) == pytest.approx(0.8, rel=1e-6)


def test_device_that_is_gone_counts_no_more(tmp_path: Path) -> None:
    source = Recorded([*nic("eth0", 0.2), *nic("eth1", 0.6)])
    known = oracle(tmp_path, source)
    source.entries = nic("eth0", 0.2)
    known.collector.read_all()

    assert used(known) == pytest.approx(0.2, rel=1e-6)


def test_user_chooses_devices(tmp_path: Path) -> None:
    entries = [*nic("eth0", 0.1), *nic("ens1", 0.7), *nic("veth1", 0.9)]

    assert used(oracle(tmp_path, Recorded(entries, devices=["ens*"]))) == pytest.approx(0.7)


def adapter(
    used_ratio: float, device: str = "mlx5_0", host: str = "n1", **more: str
) -> list[Entry]:
    labels = {"instance": f"{host}:9100", "device": device, "port": "1", **more}
    rate = 4 * 13.64e9 / 8
    return [
        *(
            counter(f"node_infiniband_port_data_{way}_bytes_total", used_ratio * rate, **labels)
            for way in ("received", "transmitted")
        ),
        gauge("node_infiniband_rate_bytes_per_second", rate, **labels),
    ]


def test_adapters_come_before_ethernet(tmp_path: Path) -> None:
    entries = [*adapter(0.8), *nic("eth0", 0.01), *nic("ib0", 0.3)]

    assert used(oracle(tmp_path, Recorded(entries))) == pytest.approx(0.8, rel=1e-6)


def test_adapter_that_is_down_or_never_used_is_left_out(tmp_path: Path) -> None:
    down = adapter(0.5, "mlx5_1")
    down.append(gauge("node_infiniband_state_id", 1, instance="n1:9100", device="mlx5_1", port="1"))
    unused = [
        gauge(f"node_infiniband_port_data_{way}_bytes_total", 0, instance="n2:9100",
              device="i40iw0", port="1")
        for way in ("received", "transmitted")
    ]  # fmt: skip
    entries = [*adapter(0.4), *down, *unused, *nic("eth0", 0.3, instance="n2:9100")]

    known = oracle(tmp_path, Recorded(entries))

    assert used(known, "n1", "n2") == pytest.approx(0.4, rel=1e-6)
    assert used(known, "n2", "n3") == pytest.approx(0.3, rel=1e-6)


def fabric(
    source: Any,
    text: str | None = None,
    folder: Path | None = None,
    lines: list[str] | None = None,
) -> Oracle:
    file = GOLDEN / "infiniband" / "two-rails.txt"
    if text is not None and folder is not None:
        file = folder / "fabric.txt"
        file.write_text(text)
    topology = import_topology("infiniband", Given(file))
    report = (lambda line: None) if lines is None else lines.append
    known = Oracle(topology, [source], clock=lambda: NOW_S, report=report)
    known.collector.read_all()
    return known


def test_ethernet_does_not_stand_for_a_cable_of_infiniband() -> None:
    known = fabric(Recorded(nic("eth0", 0.0044)))

    metric = known.ask(Question(("n1", "n2"), ("bw",))).metrics["bw"]

    assert np.isnan(metric.values[0, 1]) and metric.coverage[0, 1] == 0
    assert known.collector.states[0].unmatched == ["n1"]


def test_adapters_of_a_host_tell_of_their_own_cables() -> None:
    known = fabric(Recorded([*adapter(0.8), *adapter(0.1, "mlx5_1"), *nic("eth0", 0.0044)]))

    ratio = dict(zip(known.topology.links.out_ports, known.links().used_ratio, strict=True))

    assert ratio["100:1"] == pytest.approx(0.8, rel=1e-6)  # n1 mlx5_0
    assert ratio["110:1"] == pytest.approx(0.1, rel=1e-6)  # n1 mlx5_1
    assert known.collector.states[0].num_unmatched == 0


def test_adapter_without_a_cable_is_named_once() -> None:
    lines: list[str] = []
    down = [
        gauge("node_infiniband_state_id", state, instance="n1:9100", device=device, port="1")
        for device, state in (("mlx5_0", 4), ("mlx5_1", 5), ("mlx5_2", 1))
    ]
    entries = [*adapter(0.8), *adapter(0.1, "mlx5_1"), *adapter(0.2, "mlx5_2"), *down]

    known = fabric(Recorded([*entries, *adapter(0.3, "mlx5_9")]), lines=lines)
    known.collector.read_all()

    state = known.collector.states[0]
    # The one is down, and of the other the fabric has no cable; the host itself is known.
    assert (state.without_link, state.num_without_link) == (["n1 mlx5_2:1"], 1)
    assert (state.unmatched, state.num_unmatched, state.is_well) == (["n1 mlx5_9:1"], 1, True)
    assert [line.partition(": ")[2].partition(": ")[2] for line in lines] == [
        "n1 mlx5_9:1", "n1 mlx5_2:1",
    ]  # fmt: skip


def test_adapter_of_an_old_description_is_found_by_its_number(tmp_path: Path) -> None:
    text = (GOLDEN / "infiniband" / "nonchassis.txt").read_text()  # "n1 HCA-1"

    known = fabric(Recorded(adapter(0.8, "mlx4_0")), text, tmp_path)

    ratio = dict(zip(known.topology.links.out_ports, known.links().used_ratio, strict=True))
    assert ratio["100:1"] == pytest.approx(0.8, rel=1e-6)


@pytest.mark.parametrize(
    ("host", "instance"),
    [
        ("n1", "n1.cluster.local:9100"), ("n1", "N1"), ("n1", "http://n1:9100/metrics"),
        ("n1.dc", "n1:9100"), ("10.0.0.1", "10.0.0.1:9100"), ("job.1", "job.1.svc:9100"),
    ],
)  # fmt: skip
def test_host_is_found_by_its_instance(tmp_path: Path, host: str, instance: str) -> None:
    text = TREE.replace("n[1-2]", f"{host},n2")

    known = oracle(tmp_path, Recorded(nic("eth0", 0.8, instance=instance)), text=text)

    assert used(known, host) == pytest.approx(0.8, rel=1e-6)


def test_host_is_found_by_what_it_calls_itself(tmp_path: Path) -> None:
    entries = nic("eth0", 0.8, instance="10.0.0.1:9100")
    entries.append(gauge("node_uname_info", instance="10.0.0.1:9100", nodename="n1.site"))

    assert used(oracle(tmp_path, Recorded(entries))) == pytest.approx(0.8, rel=1e-6)


def test_addresses_of_ipv6_are_hosts() -> None:
    names = HostNames(["fe80::1", "[2001:db8::2]"])
    reported = [("fe80:0:0::1",), ("2001:DB8::2",), ("2001:db8::3",)]

    assert dict(names.match_hosts(reported)) == {
        ("fe80:0:0::1",): "fe80::1",
        ("2001:DB8::2",): "[2001:db8::2]",
    }


def test_names_that_could_be_two_hosts_are_none() -> None:
    names = HostNames(["job.1.svc", "job.2.svc", "n1"])

    assert dict(names.match_hosts([("job",), ("n1.a",), ("n1.b",)])) == {}
    assert dict(names.match_hosts([("job.2",), ("n1.a",)])) == {
        ("job.2",): "job.2.svc",
        ("n1.a",): "n1",
    }


def test_hosts_of_no_link_are_named_once(tmp_path: Path) -> None:
    lines: list[str] = []
    entries = [entry for i in range(20) for entry in nic("eth0", 0.5, instance=f"x{i}:9100")]

    known = oracle(tmp_path, Recorded([*nic("eth0", 0.8), *entries]), lines=lines)
    known.collector.read_all()

    assert len(lines) == 1
    assert "80 of 84 series match no link of the topology: x0, x1, " in lines[0]
    assert lines[0].endswith("x15 and 4 more")
    state = known.collector.states[0]
    assert state.is_well and (len(state.unmatched), state.num_unmatched) == (16, 20)


def test_source_of_which_all_is_unknown_is_not_well(tmp_path: Path) -> None:
    lines: list[str] = []
    known = oracle(tmp_path, Recorded(nic("eth0", 0.8, instance="x:1")), Recorded([], "b"),
                   lines=lines)  # fmt: skip

    assert [state.is_well for state in known.collector.states] == [False, False]
    assert lines[1] == "prometheus:http://b:9090: describes no link"


def test_two_adapters_of_slingshot_are_two_ports(tmp_path: Path) -> None:
    sources = []
    for device, start in (("cxi0", 1e15), ("cxi1", 3e12)):
        folder = tmp_path / device / "telemetry"
        folder.mkdir(parents=True)
        sources.append((CxiSource(folder, "n1"), start))
    known = oracle(tmp_path, *(source for source, _ in sources))
    for step in range(5):
        at_s = NOW_S - 40 + 10 * step
        for source, start in sources:
            text = f"{int(start + 1e9 * (at_s - NOW_S + 60))}@{at_s}\n"
            (source._path / "hni_sts_rx_ok_octets").write_text(text)
        known.collector.read_all()
    capacity = Series(
        "host n1", True, Quantity.capacity_Bps, np.array([NOW_S]), np.array([4e9]),
        host_names=("n1",),
    )  # fmt: skip
    known.store.add([dataclasses.replace(capacity)], is_whole=False, source="given")
    known.collector.generation += 1

    assert used(known, "n2", "n1") == pytest.approx(0.5)
