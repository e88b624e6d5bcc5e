# SPDX-License-Identifier: Apache-2.0
"""Programs in containers: which runtime starts them, and how our library gets inside."""

from fairlead.act.containers.catalogue import container_of
from fairlead.act.containers.entry import Entry, NoEntryError, find_entry

__all__ = ["Entry", "NoEntryError", "container_of", "find_entry"]
