# SPDX-License-Identifier: Apache-2.0
"""Groups of hosts as a JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fairlead.model.host_groups import HostGroups

__all__ = ["document"]


def document(groups: HostGroups) -> str:
    """Levels from the largest groups to the smallest, each with its members."""
    content = {
        "kind": "host-groups",
        "hosts": list(groups.groups_of_host),
        "levels": groups.levels(),
        "origin": _without_nan(groups.origin),
        "problems": list(groups.problems),
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _without_nan(origin: Mapping[str, Any]) -> Any:
    """The origin with null for numbers that JSON has not."""
    return json.loads(json.dumps(dict(origin), default=str), parse_constant=lambda _: None)
