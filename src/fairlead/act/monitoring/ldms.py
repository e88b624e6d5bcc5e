# SPDX-License-Identifier: Apache-2.0
"""LDMS with samplers on every host and one aggregator.

Which adapters a host has is seen on that host: a plugin that finds none, or whose library is
missing, would end the daemon.

Source: LDMS, ldmsd(8), ldmsd_controller(8), ldms_quickstart(7) and the samplers' manual pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairlead.act.monitoring.setup import Setup, require_plain_names
from fairlead.errors import InputError

__all__ = ["ldms_setup"]

SAMPLER_PORT, AGGREGATOR_PORT = 10444, 10445
INTERVAL_US = 10_000_000
AGGREGATING_OFFSET_US = 1_000_000
"""The aggregator asks after the samplers have sampled."""


class Sampler(NamedTuple):
    """A plugin of LDMS.

    Attributes:
        plugin: Its name.
        what: What it counts.
        is_there: Test of a shell whether a host has that; "" where all have.
    """

    plugin: str
    what: str
    is_there: str


SAMPLERS = {
    "ethernet.conf": Sampler("procnetdev2", "interfaces of the kernel", ""),
    "slingshot.conf": Sampler(
        "cxi_sampler", "adapters of Slingshot", "test -e /sys/class/cxi/cxi0"
    ),
    "infiniband.conf": Sampler(
        "ibmad_sampler",
        "adapters of InfiniBand",
        "ls /sys/class/infiniband 2> /dev/null | grep -qv '^hfi1_' && "
        "grep -qs InfiniBand /sys/class/infiniband/*/ports/*/link_layer",
    ),
    "omni-path.conf": Sampler(
        "opa2", "adapters of Omni-Path", "test -e /sys/class/infiniband/hfi1_0"
    ),
}
"""By the file that configures each."""


def ldms_setup(hosts: Sequence[str], switches: Sequence[str] = ()) -> Setup:
    """Configurations of the samplers, which are the same on all hosts, and of the aggregator.

    Raises:
        InputError: A name cannot stand in a configuration, or switches are given.
    """
    require_plain_names(hosts)
    if switches:
        raise InputError("ldms: reads no switches; give --switches to prometheus")
    texts = {
        **{name: _sampler_lines(sampler) for name, sampler in SAMPLERS.items()},
        "start-samplers": _start_lines(),
        "aggregator.conf": _aggregator_lines(hosts),
    }
    files = {name: "".join(f"{line}\n" for line in lines) for name, lines in texts.items()}
    metrics = f"ldmsd:localhost:{AGGREGATOR_PORT}"
    aggregator = ["ldmsd", "-F", "-x", f"sock:{AGGREGATOR_PORT}", "-c", "aggregator.conf"]
    steps = [
        ("on each host", "sh start-samplers"),
        ("on this machine", " ".join(aggregator)),
        (
            "see what of it is of which link",
            f"fairlead oracle serve site.topo.npz --metrics {metrics} --dry-run",
        ),
    ]
    return Setup(files, steps, ["sh", "start-samplers"], [aggregator], metrics, metrics)


def _sampler_lines(sampler: Sampler) -> Iterator[str]:
    name = sampler.plugin
    yield f"# {sampler.what}"
    yield f"load name={name}"
    yield f"config name={name} producer=${{HOSTNAME}} instance=${{HOSTNAME}}/{name}"
    yield f"start name={name} interval={INTERVAL_US} offset=0"


def _start_lines() -> Iterator[str]:
    """A script that starts the daemon with the samplers of what the host has."""
    yield "#!/bin/sh"
    yield "# Starts ldmsd with the samplers of what this host has; further arguments are passed on."
    yield 'cd "$(dirname "$0")" || exit'
    yield "export HOSTNAME=${HOSTNAME:-$(uname -n)}"
    for name, sampler in SAMPLERS.items():
        add = f'set -- "$@" -c {name}'
        yield f"if {sampler.is_there}; then {add}; fi" if sampler.is_there else add
    yield f'exec ldmsd -F -x sock:{SAMPLER_PORT} "$@"'


def _aggregator_lines(hosts: Sequence[str]) -> Iterator[str]:
    for host in hosts:
        yield (
            f"prdcr_add name={host} host={host} type=active xprt=sock port={SAMPLER_PORT} "
            f"interval={INTERVAL_US}"
        )
        yield f"prdcr_start name={host}"
    yield f"updtr_add name=all interval={INTERVAL_US} offset={AGGREGATING_OFFSET_US}"
    yield "updtr_prdcr_add name=all regex=.*"
    yield "updtr_start name=all"
