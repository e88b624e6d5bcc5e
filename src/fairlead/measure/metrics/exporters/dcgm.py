# SPDX-License-Identifier: Apache-2.0
"""dcgm-exporter: NVLink of a host's GPUs.

NVLink is not the cable of the host: it is a port of its own, `host NAME nvlink GPU`, which only a
topology with a fabric of NVLink has. DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL is left out, as its unit
is not documented.
"""

from __future__ import annotations

from fairlead.measure.metrics.exporters.exporter import Exporter, Labels, both_ways
from fairlead.measure.metrics.host_of_instance import host_of_instance
from fairlead.measure.metrics.series import Quantity
from fairlead.measure.topologies.switch_tree import host_port


def _nvlink(labels: Labels) -> str:
    host = labels.get("Hostname") or host_of_instance(labels["instance"])
    return f"{host_port(host)} nvlink {labels['gpu']}"


DCGM = Exporter(
    "dcgm-exporter, NVLink",
    "NVIDIA, DCGM, fields of profiling (1011 and 1012)",
    "bytes a second of each GPU over NVLink, with headers (DCGM_FI_PROF_NVLINK_*_BYTES)",
    "",
    both_ways(
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "DCGM_FI_PROF_NVLINK_TX_BYTES",
        Quantity.carried_Bps,
        port_of=_nvlink,
    ),
)
