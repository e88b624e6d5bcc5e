# SPDX-License-Identifier: Apache-2.0
"""LDMS with a sampler on every host and one aggregator.

Source: LDMS, ldmsd_controller(8), ldms_quickstart(7) and the samplers' manual pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairlead.act.monitoring.setup import Setup, require_plain_names
from fairlead.errors import InputError

__all__ = ["ldms_setup"]

SAMPLER_PORT, AGGREGATOR_PORT = 10444, 10445
INTERVAL_US = 10_000_000
AGGREGATING_OFFSET_US = 1_000_000
"""The aggregator asks after the samplers have sampled."""

SAMPLERS = {
    "procnetdev2": "interfaces of Ethernet",
    "cxi_sampler": "adapters of Slingshot: take it out where there are none",
}


def ldms_setup(hosts: Sequence[str], switches: Sequence[str] = ()) -> Setup:
    """Configurations of the samplers, which are the same on all hosts, and of the aggregator.

    Raises:
        InputError: A name cannot stand in a configuration, or switches are given.
    """
    require_plain_names(hosts)
    if switches:
        raise InputError("ldms: reads no switches; give --switches to prometheus")
    files = {
        "sampler.conf": "".join(f"{line}\n" for line in _sampler_lines()),
        "aggregator.conf": "".join(f"{line}\n" for line in _aggregator_lines(hosts)),
    }
    steps = [
        ("on each host", f"ldmsd -x sock:{SAMPLER_PORT} -c sampler.conf"),
        ("on this machine", f"ldmsd -x sock:{AGGREGATOR_PORT} -c aggregator.conf"),
        (
            "see what of it is of which link",
            f"fairlead oracle serve site.topo.npz --metrics ldmsd:localhost:{AGGREGATOR_PORT} "
            "--dry-run",
        ),
    ]
    return Setup(files, steps)


def _sampler_lines() -> Iterator[str]:
    for sampler, what in SAMPLERS.items():
        yield f"# {what}"
        yield f"load name={sampler}"
        yield f"config name={sampler} producer=${{HOSTNAME}} instance=${{HOSTNAME}}/{sampler}"
        yield f"start name={sampler} interval={INTERVAL_US} offset=0"


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
