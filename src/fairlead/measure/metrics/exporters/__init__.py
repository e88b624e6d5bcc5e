# SPDX-License-Identifier: Apache-2.0
"""What exporters for Prometheus report of links, a file for each exporter or kind of network."""

from fairlead.measure.metrics.exporters.catalogue import (
    EVENTS,
    EXPORTERS,
    FACTS,
    METRICS,
    NAMES,
    known_name,
)
from fairlead.measure.metrics.exporters.exporter import TICK_S, Exporter, Labels, Metric

__all__ = [
    "EVENTS",
    "EXPORTERS",
    "FACTS",
    "METRICS",
    "NAMES",
    "TICK_S",
    "Exporter",
    "Labels",
    "Metric",
    "known_name",
]
