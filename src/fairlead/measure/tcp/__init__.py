# SPDX-License-Identifier: Apache-2.0
"""Measures networks over TCP, without MPI: a small program on each host, by ssh or a rendezvous."""

from fairlead.measure.tcp.hosts_by_agent import hosts_by_agent
from fairlead.measure.tcp.pairs import measure_pairs, usual_sample
from fairlead.measure.tcp.probes import TcpProbes
from fairlead.measure.tcp.rehearsing import PatternTimes, rehearse_orders
from fairlead.measure.tcp.rendezvous import DEFAULT_PORT, Meeting, join, listen

__all__ = [
    "DEFAULT_PORT",
    "Meeting",
    "PatternTimes",
    "TcpProbes",
    "hosts_by_agent",
    "join",
    "listen",
    "measure_pairs",
    "rehearse_orders",
    "usual_sample",
]
