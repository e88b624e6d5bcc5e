# SPDX-License-Identifier: Apache-2.0
"""Traffic as other tools write it, and our own file."""

from fairlead.measure.traffic_files.catalogue import load_traffic
from fairlead.measure.traffic_files.csv_matrix import csv_lines

__all__ = ["csv_lines", "load_traffic"]
