# SPDX-License-Identifier: Apache-2.0
"""The emulated cloud: one machine becomes hosts with an uneven network between them."""

from fairlead.lab.lab import Lab
from fairlead.lab.scenario import Scenario, packaged_scenarios
from fairlead.lab.topology import Topology

__all__ = ["Lab", "Scenario", "Topology", "packaged_scenarios"]
