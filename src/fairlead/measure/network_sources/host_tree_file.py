# SPDX-License-Identifier: Apache-2.0
"""The TOML file in which a user declares racks, pods and the costs of messages between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError
from fairlead.files.naming import name_source
from fairlead.files.toml_files import read_toml
from fairlead.model.host_tree import HostTree

__all__ = ["read_host_tree"]


class _Level(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cost: float
    groups: dict[str, list[str]] = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    inside_host: float = 0.0
    beyond: float
    levels: list[_Level] = Field(min_length=1)


def read_host_tree(path: Path) -> HostTree:
    """Read the groups of hosts and their costs.

    Args:
        path: A TOML file: `levels`, the lowest first, each with its `cost` and `groups`; those of
            the first hold hosts, such as "n[01-16]", those of the others groups of the level below.
            `beyond` is the cost between groups of the last, `inside_host` that inside a host.

    Raises:
        InputError: The file cannot be read, a field is wrong, or a host or group is in no group of
            a level or in two; the message names file and field.
    """
    file = read_toml(path, _File)
    groups = []
    with name_source(path):
        of_host = _group_of_member(file.levels[0], 0)
        hosts = list(of_host)
        groups.append(list(of_host.values()))
        for index, level in enumerate(file.levels[1:], start=1):
            of_group = _group_of_member(level, index)
            _check_members(of_group, file.levels[index - 1], index)
            names = list(file.levels[index - 1].groups)
            groups.append([of_group[names[group]] for group in groups[-1]])
        costs = [file.inside_host, *(level.cost for level in file.levels), file.beyond]
        return HostTree(hosts, np.array(groups), np.array(costs), source=str(path))


def _group_of_member(level: _Level, index: int) -> dict[str, int]:
    """Position of the group that each host or group of the level below is in."""
    found: dict[str, int] = {}
    for group, (name, members) in enumerate(level.groups.items()):
        field = f"levels[{index}].groups.{name}"
        for text in members:
            for member in expand_node_list(text, field) if index == 0 else [text]:
                if member in found:
                    raise InputError(f"{field}: {member!r} is in two groups")
                found[member] = group
    if not found:
        raise InputError(f"levels[{index}].groups: all are empty")
    return found


def _check_members(of_group: dict[str, int], below: _Level, index: int) -> None:
    unknown = next((name for name in of_group if name not in below.groups), None)
    if unknown is not None:
        raise InputError(
            f"levels[{index}].groups: {unknown!r} is no group of the level below, which has "
            f"{', '.join(below.groups)}"
        )
    missing = next((name for name in below.groups if name not in of_group), None)
    if missing is not None:
        raise InputError(f"levels[{index}].groups: {missing!r} of the level below is in none")
