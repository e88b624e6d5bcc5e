# SPDX-License-Identifier: Apache-2.0
"""Configurations of monitoring are what the systems themselves accept."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairlead.act.monitoring import SYSTEMS, Setup, start_setup, write_setup
from fairlead.act.monitoring.prometheus import COLLECTOR_ARGUMENTS, ETHTOOL_STATISTICS
from fairlead.cli import app
from fairlead.errors import InputError
from fairlead.measure.metrics.exporters import EVENTS, METRICS


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Prometheus is not installed")
@pytest.mark.parametrize("switches", [(), ("leaf1", "leaf2")])
def test_promtool_accepts_the_scrape_configuration(
    tmp_path: Path, switches: tuple[str, ...]
) -> None:
    write_setup(SYSTEMS["prometheus"].setup(["n1", "n2"], switches), tmp_path)

    done = subprocess.run(
        ["promtool", "check", "config", "prometheus.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout
    targets = json.loads((tmp_path / "nodes.json").read_text())
    assert targets[1] == {"targets": ["n2:9100"], "labels": {"host": "n2"}}


@pytest.mark.skipif(
    shutil.which("prometheus-node-exporter") is None, reason="node_exporter is not installed"
)
def test_node_exporter_knows_the_collectors() -> None:
    done = subprocess.run(
        ["prometheus-node-exporter", *COLLECTOR_ARGUMENTS, "--version"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


def test_every_statistic_of_drivers_that_is_known_is_switched_on() -> None:
    known = [name.removeprefix("node_ethtool_") for name in METRICS if "ethtool" in name]
    raw = [name.replace("received", "rx").replace("transmitted", "tx") for name in known]
    raw = [name.replace("bytes_nic", "bytes.nic") for name in raw]

    assert len(raw) > 20
    assert [name for name in raw if not re.search(ETHTOOL_STATISTICS, name)] == []
    assert re.search(ETHTOOL_STATISTICS, "rx_packets") is None


def test_an_aggregator_of_ldms_asks_every_host(tmp_path: Path) -> None:
    setup = SYSTEMS["ldms"].setup(["n1", "n2"], ())

    lines = setup.files["aggregator.conf"].splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("prdcr_")] == [
        ["prdcr_add", "name=n1"],
        ["prdcr_start", "name=n1"],
        ["prdcr_add", "name=n2"],
        ["prdcr_start", "name=n2"],
    ]
    assert "${HOSTNAME}" in setup.files["ethernet.conf"]


@pytest.mark.parametrize(
    ("adapters", "expected"),
    [
        ({}, []),
        ({"cxi/cxi0/x": ""}, ["slingshot.conf"]),
        ({"infiniband/mlx5_0/ports/1/link_layer": "InfiniBand"}, ["infiniband.conf"]),
        # Adapters for RoCE have no counters that can be asked for over InfiniBand.
        ({"infiniband/mlx5_0/ports/1/link_layer": "Ethernet"}, []),
        ({"infiniband/hfi1_0/ports/1/link_layer": "InfiniBand"}, ["omni-path.conf"]),
    ],
)
def test_samplers_of_adapters_are_started_where_a_host_has_them(
    tmp_path: Path, adapters: dict[str, str], expected: list[str]
) -> None:
    write_setup(SYSTEMS["ldms"].setup(["n1"], ()), tmp_path / "ldms")
    script = tmp_path / "ldms" / "start-samplers"
    script.write_text(script.read_text().replace("/sys/class", str(tmp_path / "class")))
    for name, text in adapters.items():
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True)
        path.write_text(f"{text}\n")
    ldmsd = tmp_path / "bin" / "ldmsd"
    ldmsd.parent.mkdir()
    ldmsd.write_text('#!/bin/sh\necho "$HOSTNAME" "$@"\n')
    ldmsd.chmod(0o755)

    done = subprocess.run(
        ["sh", script], env={"PATH": f"{ldmsd.parent}:/usr/bin:/bin", "HOSTNAME": "n1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    confs = " ".join(f"-c {name}" for name in ["ethernet.conf", *expected])
    assert done.stdout == f"n1 -F -x sock:10444 {confs}\n"
    for name in expected:
        assert (tmp_path / "ldms" / name).read_text().count("name=") == 3


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text("mine")

    with pytest.raises(InputError, match=r"nodes.json: is there already; give another folder"):
        write_setup(SYSTEMS["prometheus"].setup(["n1"], ()), tmp_path)
    assert (tmp_path / "nodes.json").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["nodes.json"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_name_that_would_mean_something_else_is_refused(system: str) -> None:
    with pytest.raises(InputError, match=r"host 'n1 host=evil': expected letters"):
        SYSTEMS[system].setup(["n1 host=evil"], ())


def test_the_command_writes_and_says_what_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    (tmp_path / "hosts.txt").write_text("n1 slots=4\nn2 slots=4\n")

    done = CliRunner().invoke(app, ["oracle", "setup", "ldms", "--hostfile", "hosts.txt"])
    refused = CliRunner().invoke(
        app, ["oracle", "setup", "ldms", "--hostfile", "hosts.txt", "--switches", "leaf1"]
    )

    assert done.stdout.splitlines()[0] == (
        "wrote ldms/ethernet.conf, ldms/slingshot.conf, ldms/infiniband.conf, "
        "ldms/omni-path.conf, ldms/start-samplers, ldms/aggregator.conf"
    )
    assert "  sh start-samplers   # on each host" in done.stdout
    assert isinstance(refused.exception, InputError)


@pytest.mark.parametrize(
    ("words", "variables", "hosts"),
    [
        (["-H", "n1,n2:8"], {}, ["n1", "n2"]),
        ([], {"SLURM_JOB_NODELIST": "n[3-4]", "SLURM_TASKS_PER_NODE": "8(x2)"}, ["n3", "n4"]),
        ([], {"LSB_MCPU_HOSTS": "n5 8 n6 8", "LSB_JOBID": "1"}, ["n5", "n6"]),
        # What the user names counts before the allocation.
        (["-H", "n1"], {"LSB_MCPU_HOSTS": "n5 8 n6 8", "LSB_JOBID": "1"}, ["n1"]),
    ],
)
def test_hosts_are_those_of_the_list_or_of_the_job(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variables: dict[str, str],
    hosts: list[str],
) -> None:
    leave_every_job(monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    done = CliRunner().invoke(
        app, ["oracle", "setup", "prometheus", *words, "-o", str(tmp_path / "set")]
    )

    assert done.exit_code == 0, done.output
    targets = json.loads((tmp_path / "set" / "nodes.json").read_text())
    assert [target["labels"]["host"] for target in targets] == hosts


def test_without_hosts_and_outside_of_a_job_it_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_every_job(monkeypatch)
    monkeypatch.chdir(tmp_path)

    done = CliRunner().invoke(app, ["oracle", "setup", "prometheus"])
    twice = CliRunner().invoke(app, ["oracle", "setup", "ldms", "-H", "n1", "--hostfile", "h"])

    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith("no hosts: give --hostfile FILE or -H")
    assert twice.exit_code == 2
    assert not (tmp_path / "prometheus").exists() and not (tmp_path / "ldms").exists()


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("ERROR: no library\\nERROR: port is taken\\ncleanup end\\n", "ERROR: port is taken"),
        ("begun\\nport is taken\\n", "port is taken"),
        ("", ""),
    ],
)
def test_a_program_that_ended_is_named_with_its_last_error(
    tmp_path: Path, printed: str, expected: str
) -> None:
    made = Setup({}, [], ["sh", "-c", f"printf '{printed}'; exit 7"], [], "", "")

    with start_setup(made, tmp_path, ["h0"], lambda _host, words: [*words]) as started:
        started.processes["h0"].wait()
        (line,) = started.lines_of_ended()

    assert line == f"h0: ended with exit code 7: {expected}"


def leave_every_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variables of schedulers and of MPIs' own launchers."""
    for name in list(os.environ):
        if name.startswith(("SLURM_", "LSB_", "PBS_", "PE_", "FLUX_", "OMPI_", "PRTE_", "HYDRA_")):
            monkeypatch.delenv(name)


def test_addresses_of_ipv6_stand_in_brackets_before_the_port() -> None:
    setup = SYSTEMS["prometheus"].setup(["fd00::1", "[fd00::2]", "10.0.0.3"], ())

    targets = [each["targets"] for each in json.loads(setup.files["nodes.json"])]
    assert targets == [["[fd00::1]:9100"], ["[fd00::2]:9100"], ["10.0.0.3:9100"]]


def test_adapters_without_a_collector_are_written_for_the_exporter(tmp_path: Path) -> None:
    write_setup(SYSTEMS["prometheus"].setup(["n1"], ()), tmp_path / "set")
    script = tmp_path / "set" / "start-exporter"
    script.write_text(script.read_text().replace("/sys/class", str(tmp_path / "class")))
    counters = {
        "cxi/cxi0/device/telemetry/hni_tx_paused_1": "12@1700000000.5",
        "cxi/cxi0/device/telemetry/hni_pkts_sent": "9@1700000000.5",
        "infiniband/rdmap1s0/ports/1/hw_counters/retrans_pkts": "7",
        "infiniband/rdmap1s0/ports/1/hw_counters/impaired_remote_conn_events": "2",
        "infiniband/rdmap1s0/ports/1/hw_counters/alloc_pd_err": "3",
        # Other drivers use the same names, and node_exporter knows these adapters.
        "infiniband/bnxt_re0/ports/1/hw_counters/rx_bytes": "5",
    }
    for device, driver in (("rdmap1s0", "efa"), ("bnxt_re0", "bnxt_re")):
        folder = tmp_path / "class" / "infiniband" / device / "device"
        folder.mkdir(parents=True)
        (folder / "driver").symlink_to(f"../../drivers/{driver}")
    for name, text in counters.items():
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    exporter = tmp_path / "bin" / "node_exporter"
    exporter.parent.mkdir()
    # It prints what it would read, as soon as it is there.
    exporter.write_text(
        "#!/bin/sh\nfor last; do :; done\nfile=${last#*=}/adapters.prom\n"
        'until [ -e "$file" ]; do sleep 0.05; done\ncat "$file"\n'
    )
    exporter.chmod(0o755)

    done = subprocess.run(
        ["sh", script], env={"PATH": f"{exporter.parent}:/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.splitlines() == [
        'node_cxi_hni_tx_paused_1{device="cxi0",port="1"} 12',
        'node_amazonefa_impaired_remote_conn_events{device="rdmap1s0",port="1"} 2',
        'node_amazonefa_retrans_pkts{device="rdmap1s0",port="1"} 7',
    ]
    names = {line.partition("{")[0] for line in done.stdout.splitlines()}
    assert names <= {*METRICS, *EVENTS}
