# SPDX-License-Identifier: Apache-2.0
"""Damaged files of other tools are read or refused in one line, and never end otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from foreign_samples import damaged
from saved_samples import three_ranks
from synthetic_hosts import TWO_SOCKETS, synthetic_xml

from fairlead.act.launch import find_allocation, read_hostfile
from fairlead.errors import Error, InputError
from fairlead.measure.metrics.ldms import parse, series_of
from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.measure.topologies.catalogue import IMPORTS, Given, import_topology
from fairlead.measure.traffic_files import csv_lines, load_traffic
from fairlead.model.cpu_topology import read_cpu_topology
from fairlead.model.topology import Topology
from fairlead.report import topology_view
from fairlead.simulation.workload_file import read_workload_file

TESTS = Path(__file__).parents[2]
GOLDEN = TESTS / "golden" / "oracle"
COPIES, SEED = 60, 42

OF_KIND = {
    "gemini": "cray/rtr_interconnect.txt",
    "infiniband": "infiniband/*.txt",
    "ibdiagnet": "ibdiagnet/*",
    "ufm": "ufm/links.json",
    "slingshot": "slingshot/*.csv",
    "lldp": "lldp/*.json",
    "kubernetes": "kubernetes/*",
    "topograph": "topograph/[gs]*[!f]",
    "slurm": "slurm/*",
    "aws": "aws/*.json",
    "gcp": "gcp/*.json",
    "oci": "oci/imds-hosts.json",
    "azure": "azure/*.json",
}
TOPOLOGIES = [
    pytest.param(kind, path, id=f"{kind}-{path.name}")
    for kind, pattern in OF_KIND.items()
    for path in sorted(GOLDEN.glob(pattern))
]
LDMS = sorted([*GOLDEN.glob("ldms/ldms_ls-l*"), *GOLDEN.glob("exporters/ldms_*")])


def refusal(read: Callable[[], object]) -> str | None:
    """Why it is refused; None where it is read. Any other end is the test's."""
    try:
        read()
    except Error as error:
        return str(error)
    return None


def unclear(refusals: Iterable[str | None], begin: str = "") -> list[str]:
    """Those that are not one short line, or that do not begin with the file's name."""
    return [
        line
        for line in refusals
        if line is not None
        and not (line.startswith(begin) and "\n" not in line and len(line) < 600)
    ]


def test_every_kind_of_topology_has_a_sample() -> None:
    assert {*OF_KIND} == {*IMPORTS} - {"lab"}
    assert all([*GOLDEN.glob(pattern)] for pattern in OF_KIND.values())


@pytest.mark.parametrize(("kind", "sample"), TOPOLOGIES)
def test_a_damaged_topology_is_read_or_refused_by_its_name(
    kind: str, sample: Path, tmp_path: Path
) -> None:
    file, saved = tmp_path / sample.name, tmp_path / "a.topo.npz"

    def read() -> None:
        topology = import_topology(kind, Given(file))
        topology.save(saved)
        assert topology_view.facts(Topology.load(saved))

    found = []
    for data in damaged(sample.read_bytes(), COPIES, SEED):
        file.write_bytes(data)
        found.append(refusal(read))

    assert unclear(found, str(file)) == []


@pytest.mark.parametrize("kind", OF_KIND)
def test_a_topology_of_another_kind_is_read_or_refused_by_its_name(kind: str) -> None:
    for other in TOPOLOGIES:
        path = other.values[1]
        assert isinstance(path, Path)
        found = refusal(lambda path=path: import_topology(kind, Given(path)))
        assert unclear([found], str(path)) == []


@pytest.mark.parametrize("sample", LDMS, ids=lambda path: path.name)
def test_damaged_output_of_ldms_costs_its_sets(sample: Path) -> None:
    texts = [data.decode("utf-8", "replace") for data in damaged(sample.read_bytes(), COPIES, SEED)]

    found = [refusal(lambda text=text: [*series_of(parse(text, "ldms"))]) for text in texts]

    assert unclear(found) == []


class Answers(PrometheusSource):
    """A source whose server answers with this."""

    answer: Any = None

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        return self.answer


def test_a_damaged_answer_of_prometheus_is_read_or_refused() -> None:
    labels = {
        "node_network_receive_bytes_total": {"device": "eth0"},
        "node_ethtool_received_bytes_phy": {"device": "eth1"},
        "node_infiniband_port_data_received_bytes_total": {"device": "mlx5_0", "port": "1"},
        "ifHCInOctets": {"ifName": "e1"},
        "DCGM_FI_PROF_NVLINK_RX_BYTES": {"gpu": "0", "Hostname": "n1"},
    }
    series = [
        {
            "metric": {"__name__": name, "instance": "n1:9100", **of},
            "values": [[0, "1"], [10, "500"]],
        }
        for name, of in labels.items()
    ]
    whole = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    source, found = Answers("http://monitor"), []
    for data in damaged(json.dumps(whole).encode(), 10 * COPIES, SEED):
        try:
            source.answer = json.loads(data)
        except ValueError:
            continue
        found.append(refusal(lambda: source.read(10, 10)))

    assert unclear(found) == []
    assert any(found)


HOSTFILE = "a slots=2\nb:3\nc max-slots=4 slots=2 # x\nuser@d slots=2\nn[1-3]\n"
APS = """| Data Transfers per Rank-to-Rank Communication
| Rank --> Rank           Time(sec)        Time(%)      Volume(MB)        Volume(%)        Transfers
|---------------------------------------------------------------------------------------------------
  0002 --> 0000            14.30            60.00             2.50            50.00               10
  0000 --> 0001             7.15            30.00             2.00            40.00                4
"""
CM = "E\t0\t1\t34000 bytes\t1 msgs sent\t0,0\nE\t0\t0\t34 bytes\t2 msgs sent\t0,0\n"
WORKLOAD = TESTS.parent / "src/fairlead/simulation/workloads/Synt_workload_1.toml"
FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "hosts": (HOSTFILE, read_hostfile),
    "a.csv": ("\n".join(csv_lines(three_ranks())), load_traffic),
    "aps.txt": (APS, load_traffic),
    "cm.0.prof": (CM, load_traffic),
    "a.toml": (WORKLOAD.read_text(), read_workload_file),
}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused_by_its_name(name: str, tmp_path: Path) -> None:
    text, read = FILES[name]
    file = tmp_path / name
    found = []
    for data in damaged(text.encode(), 3 * COPIES, SEED):
        file.write_bytes(data)
        found.append(refusal(lambda: read(file)))

    assert unclear(found, str(file)) == []
    assert any(found)


def test_a_damaged_topology_of_a_host_is_read_or_refused() -> None:
    copies = damaged(synthetic_xml(TWO_SOCKETS).encode(), COPIES, SEED)
    texts = [data.decode("utf-8", "replace") for data in copies]

    found = [refusal(lambda text=text: read_cpu_topology(text)) for text in texts]

    assert unclear(found) == []
    assert any(found)


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("SLURM_JOB_NODELIST", "h[0-3,7],x[001-003]y"),
        ("SLURM_TASKS_PER_NODE", "4,1(x3)"),
        ("LSB_MCPU_HOSTS", "a 2 b 3"),
        ("LSB_HOSTS", "a a b"),
    ],
)
def test_a_damaged_variable_of_a_scheduler_is_read_or_refused(name: str, sample: str) -> None:
    slurm = {"SLURM_JOB_NODELIST": "h[0-3]", "SLURM_TASKS_PER_NODE": "2(x4)"}
    others = slurm if "SLURM" in name else {}

    found = [
        refusal(lambda env=env: find_allocation(lambda: "openmpi", env))
        for env in (
            {**others, name: data.decode("utf-8", "replace")}
            for data in damaged(sample.encode(), 5 * COPIES, SEED)
        )
    ]

    assert unclear(found) == []
    assert any(found)


def test_a_missing_file_is_refused_by_its_name(tmp_path: Path) -> None:
    for kind in OF_KIND:
        with pytest.raises(InputError, match=r"(?i)no such file"):
            import_topology(kind, Given(tmp_path / "gone"))
