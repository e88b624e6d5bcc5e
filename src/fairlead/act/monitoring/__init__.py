# SPDX-License-Identifier: Apache-2.0
"""Configurations of existing monitoring for hosts that have none, a file for each system."""

from fairlead.act.monitoring.catalogue import SYSTEMS, System
from fairlead.act.monitoring.setup import Setup, write_setup
from fairlead.act.monitoring.starting import Started, start_setup

__all__ = ["SYSTEMS", "Setup", "Started", "System", "start_setup", "write_setup"]
