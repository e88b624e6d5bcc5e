# SPDX-License-Identifier: Apache-2.0
"""Groups of hosts in the forms that schedulers and other tools read, a file for each."""

from fairlead.act.topology_formats.catalogue import TOPOLOGY_FORMATS, TopologyFormat

__all__ = ["TOPOLOGY_FORMATS", "TopologyFormat"]
