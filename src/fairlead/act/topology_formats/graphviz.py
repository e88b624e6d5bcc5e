# SPDX-License-Identifier: Apache-2.0
"""A graph of groups and hosts for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from fairlead.model.host_groups import HostGroups

__all__ = ["dot"]


def dot(groups: HostGroups) -> str:
    """An undirected graph: hosts are boxes, groups are ellipses."""
    return "".join(f"{line}\n" for line in _lines(groups))


def _lines(groups: HostGroups) -> Iterator[str]:
    yield "graph network {"
    yield "  node [shape=box];"
    levels = groups.levels()
    # A host may be called as a group is.
    for depth, level in enumerate(levels):
        is_leaf = depth == len(levels) - 1
        for name, members in level.items():
            yield f"  {_quote(f'group {name}')} [label={_quote(name)}, shape=ellipse];"
            for member in members:
                end = f"host {member}" if is_leaf else f"group {member}"
                yield f"  {_quote(f'group {name}')} -- {_quote(end)};"
    for host in groups.groups_of_host:
        yield f"  {_quote(f'host {host}')} [label={_quote(host)}];"
    yield "}"


def _quote(text: str) -> str:
    """A string of the language. Source: Graphviz, the DOT language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
