# SPDX-License-Identifier: Apache-2.0
"""What the links of a network carry now, from counters of several sources."""

from fairlead.measure.metrics.catalogue import SOURCES, open_source
from fairlead.measure.metrics.series import MetricSource, Quantity, Series

__all__ = ["SOURCES", "MetricSource", "Quantity", "Series", "open_source"]
