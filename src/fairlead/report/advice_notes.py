# SPDX-License-Identifier: Apache-2.0
"""Assumptions and limits of an advice, in sentences."""

from __future__ import annotations

import math

from fairlead.decide.hosts import Advice, HostAdvice
from fairlead.model.network import Network
from fairlead.units import format_duration


def notes(advice: Advice) -> list[str]:
    """Sentences below every advice."""
    found = _about_network(advice.network)
    if advice.hosts is not None:
        found += _about_prediction(advice.hosts, has_groups=bool(advice.network.groups))
    return found


def _about_network(network: Network) -> list[str]:
    found = [
        f"{host} did not answer when the network was measured: {why}"
        for host, why in network.unreachable.items()
    ]
    missing = len(network.unmeasured_pairs())
    if missing:
        found.append(f"{missing} of the pairs were not measured and are ignored.")
    return found


def _about_prediction(hosts: HostAdvice, has_groups: bool) -> list[str]:
    found = []
    if math.isnan(hosts.rest_s):
        found.append("The traffic has no run time, so only its communication is predicted.")
    else:
        found.append(
            f"Run time: {format_duration(hosts.rest_s)} of the traced run's "
            f"{format_duration(hosts.run_time_s)} are assumed to stay the same "
            "(computing, waiting), plus the least time of the network's busiest part. The traced "
            "run is assumed to have had the launcher's placement on all hosts."
        )
        if hosts.traced.bottleneck_s > hosts.run_time_s:
            found.append(
                f"By the model the network's busiest part in the traced run alone takes "
                f"{format_duration(hosts.traced.bottleneck_s)}, longer than the whole run: "
                "network and traffic do not match, and predicted times are too long."
            )
    found.append(
        "Fewer hosts do not slow computing down as long as a host has a core for each of its "
        "slots; caches and memory, which ranks of a host share, are not modelled."
    )
    if not has_groups:
        found.append(
            "No bottlenecks that pairs share were measured in this network. If there are some, the "
            "time of the busiest part is too small, and that of all bytes in turn may rank the "
            "sets of hosts better."
        )
    return found
