# SPDX-License-Identifier: Apache-2.0
"""Prometheus with node_exporter on every host, and snmp_exporter for switches.

Source: Prometheus, configuration (file_sd_config, relabel_config); node_exporter and snmp_exporter,
README.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

import yaml

from fairlead.act.monitoring.setup import Setup, require_plain_names

__all__ = ["COLLECTOR_ARGUMENTS", "prometheus_setup"]

EXPORTER_PORT, SNMP_PORT = 9100, 9116

SERVER = "127.0.0.1:9090"
"""Only this machine asks it."""

INTERVAL = "10s"
"""The oracle's window is a minute: a rate needs a few samples in it."""

WRITING_S = 5
"""How often a host writes what its exporter reads of a file."""

ETHTOOL_STATISTICS = (
    r"^(bw_(in|out)_allowance_exceeded|(rx|tx)_bytes_phy|(rx|tx)_bytes\.nic"
    r"|(rx|tx)_(prio[0-7]|global)_pause_duration)$"
)
"""A driver has hundreds; these are those that the oracle knows."""

COLLECTOR_ARGUMENTS = (
    "--collector.disable-defaults",
    "--collector.netdev",
    "--collector.netclass",
    "--collector.bonding",
    "--collector.uname",
    "--collector.infiniband",
    "--collector.textfile",
    "--collector.ethtool",
    f"--collector.ethtool.metrics-include={ETHTOOL_STATISTICS}",
)
"""Collectors of what the oracle reads, and no others."""


def prometheus_setup(hosts: Sequence[str], switches: Sequence[str] = ()) -> Setup:
    """Scrape configuration, targets, and arguments of the exporter.

    Args:
        hosts: Each runs node_exporter.
        switches: Each is asked by an snmp_exporter on this machine.

    Raises:
        InputError: A name cannot stand in a configuration.
    """
    require_plain_names([*hosts, *switches])
    jobs: list[dict[str, Any]] = [
        {"job_name": "node", "file_sd_configs": [{"files": ["nodes.json"]}]}
    ]
    files = {"nodes.json": _targets([(_address(host), host) for host in hosts])}
    if switches:
        jobs.append(_snmp_job())
        files["switches.json"] = _targets([(switch, switch) for switch in switches])
    document = {
        "global": {"scrape_interval": INTERVAL, "scrape_timeout": INTERVAL},
        "scrape_configs": jobs,
    }
    files = {"prometheus.yml": yaml.safe_dump(document, sort_keys=False), **files}
    files["start-exporter"] = _start_script()
    here = [["snmp_exporter"]] if switches else []
    here.append(["prometheus", "--config.file=prometheus.yml", f"--web.listen-address={SERVER}"])
    metrics = f"prometheus:http://{SERVER}"
    steps = [
        ("on each host", "sh start-exporter"),
        *(("on this machine", " ".join(words)) for words in here),
        (
            "see what of it is of which link",
            f"fairlead oracle serve site.topo.npz --metrics {metrics} --dry-run",
        ),
    ]
    return Setup(files, steps, ["sh", "start-exporter"], here, metrics, f"{metrics}?device=*")


def _start_script() -> str:
    """Starts node_exporter, by the name that it has in Debian or by its own."""
    arguments = " ".join(map(shlex.quote, COLLECTOR_ARGUMENTS))
    return f"""#!/bin/sh
# Starts node_exporter with the collectors that the oracle reads, and no others.
exporter=$(command -v node_exporter || command -v prometheus-node-exporter) || {{
    echo 'node_exporter: no such program on this host' >&2
    exit 127
}}
# Adapters that no collector knows: Slingshot's, and Amazon's EFA by the names of AWS' exporter.
adapters() {{
    for file in /sys/class/cxi/cxi*/device/telemetry/*; do
        case ${{file##*/}} in
            hni_sts_[rt]x_ok_octets | hni_[rt]x_paused_[0-7] | parbs_tarb_pi_*posted_blocked_cnt)
                device=${{file#/sys/class/cxi/}}
                labels="device=\\"${{device%%/*}}\\",port=\\"1\\""
                read -r value < "$file"
                echo "node_cxi_${{file##*/}}{{$labels}} ${{value%%@*}}"
                ;;
        esac
    done
    for file in /sys/class/infiniband/*/ports/*/hw_counters/*; do
        case ${{file##*/}} in
            rx_bytes | tx_bytes | rx_pkts | tx_pkts | retrans_pkts | retrans_timeout_events | \\
            impaired_remote_conn_events | unresponsive_remote_events)
                device=${{file#/sys/class/infiniband/}}
                port=${{device#*/ports/}}
                driver=$(readlink "/sys/class/infiniband/${{device%%/*}}/device/driver")
                [ "${{driver##*/}}" = efa ] || continue
                labels="device=\\"${{device%%/*}}\\",port=\\"${{port%%/*}}\\""
                read -r value < "$file"
                echo "node_amazonefa_${{file##*/}}{{$labels}} $value"
                ;;
        esac
    done
}}
folder=$(mktemp -d) || exit
(
    while kill -0 $$; do
        adapters > "$folder/new" && mv "$folder/new" "$folder/adapters.prom"
        sleep {WRITING_S}
    done
    rm -r "$folder"
) > /dev/null 2>&1 &
exec "$exporter" {arguments} --collector.textfile.directory="$folder"
"""


def _targets(targets: Sequence[tuple[str, str]]) -> str:
    """A file of targets, each with its host as a label."""
    found = [{"targets": [target], "labels": {"host": host}} for target, host in targets]
    return json.dumps(found, indent=2) + "\n"


def _address(host: str) -> str:
    """Host and port of its exporter; an address of IPv6 stands in brackets."""
    is_bare = ":" in host and not host.startswith("[")
    return f"[{host}]:{EXPORTER_PORT}" if is_bare else f"{host}:{EXPORTER_PORT}"


def _snmp_job() -> dict[str, Any]:
    """The exporter asks the switch, whose name becomes the instance."""
    return {
        "job_name": "snmp",
        "metrics_path": "/snmp",
        "params": {"module": ["if_mib"]},
        "file_sd_configs": [{"files": ["switches.json"]}],
        "relabel_configs": [
            {"source_labels": ["__address__"], "target_label": "__param_target"},
            {"source_labels": ["__param_target"], "target_label": "instance"},
            {"target_label": "__address__", "replacement": f"localhost:{SNMP_PORT}"},
        ],
    }
