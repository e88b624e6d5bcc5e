# SPDX-License-Identifier: Apache-2.0
"""Slurm's topology: topology.conf, topology.yaml, and what `scontrol show topology` prints."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.topologies.switch_tree import tree_topology
from fairlead.model.topology import Topology

__all__ = ["read"]

_YAML_LINE = re.compile(r"(\s*)(- +)?([\w ]+?):(?: +(.*))?|(\s*)- +(\S+)", re.A)
_YAML_FIELDS = {"switch": "SwitchName", "block": "BlockName", "nodes": "Nodes"}
_YAML_FIELDS["children"] = "Switches"
_NO_TREE = ("flat", "torus", "ring")


@dataclasses.dataclass
class _Record:
    """One line of topology.conf, or one entry of topology.yaml."""

    where: str
    fields: dict[str, str]

    def hosts(self, field: str) -> list[str]:
        """Names of a field; none where it is absent."""
        text = self.fields.get(field)
        if not text:
            return []
        try:
            return expand_node_list(text, field)
        except InputError as error:
            raise InputError(f"{self.where}: {error}") from error


def read(path: Path) -> Topology:
    """The tree of switches, or blocks and groups of blocks.

    LinkSpeed is left out: Slurm gives it no unit and no meaning.

    Raises:
        InputError: A line is not understood, a switch is missing or below itself.
    """
    text = read_text(path)
    is_yaml = re.search(r"^- *topology *:", text, re.M) is not None
    records = _yaml(path, text) if is_yaml else _conf(path, text)
    blocks = [record for record in records if "BlockName" in record.fields]
    above = _blocks(records, blocks) if blocks else _switches(path, records)
    return tree_topology(above, {"how": "slurm", "file": str(path)}, str(path))


def _conf(path: Path, text: str) -> list[_Record]:
    """Lines of `Name=value` fields; a backslash continues one."""
    records = []
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        pairs = [word.partition("=") for word in words]
        if not all(equals and value for _, equals, value in pairs):
            raise InputError(f"{path}:{number}: expected Name=value fields, got {line.strip()!r}")
        records.append(_Record(f"{path}:{number}", {name: value for name, _, value in pairs}))
    return records


def _yaml(path: Path, text: str) -> list[_Record]:
    """The entries of the default topology of a topology.yaml, which is lists of plain fields.

    A reader of all of YAML would be one more dependency, for seven words.
    """
    topologies: list[tuple[bool, list[_Record]]] = []
    sizes = False
    lines = (line.partition("#")[0].rstrip() for line in text.splitlines())
    for number, line in enumerate(lines, 1):
        if not line or line == "---":
            continue
        found = _YAML_LINE.fullmatch(line)
        if found is None:
            raise InputError(f"{path}:{number}: expected `name: value`, got {line.strip()!r}")
        where, key, value = f"{path}:{number}", found[3], (found[4] or "").strip("\"' ")
        if key is None:
            if not sizes or not topologies:
                raise InputError(f"{where}: expected `name: value`, got {line.strip()!r}")
            topologies[-1][1][-1].fields["BlockSizes"] += f",{found[6]}"
            continue
        sizes = key == "block_sizes"
        if key == "topology":
            topologies.append((False, []))
        elif not topologies:
            raise InputError(f"{where}: {key} stands before any topology")
        elif key == "cluster_default":
            topologies[-1] = (value.lower() in ("true", "yes", "on"), topologies[-1][1])
        elif sizes:
            numbers = value.strip("[]").replace(" ", "")
            topologies[-1][1].append(_Record(where, {"BlockSizes": numbers}))
        elif found[2] and key in ("switch", "block"):
            topologies[-1][1].append(_Record(where, {_YAML_FIELDS[key]: value}))
        elif key in _YAML_FIELDS and value:
            topologies[-1][1][-1].fields[_YAML_FIELDS[key]] = value
        elif key not in ("tree", "block", "switches", "blocks", "nodes", "children"):
            kind = "has no switches" if key in _NO_TREE else "is not understood"
            raise InputError(f"{where}: {key} {kind}")
    default = [records for is_default, records in topologies if is_default]
    return (default or [records for _, records in topologies])[0]


def _switches(path: Path, records: list[_Record]) -> dict[str, list[str]]:
    """Switches above each host, the highest first."""
    parent_of: dict[str, str] = {}
    named = {record.fields.get("SwitchName", ""): record for record in records}
    for name, record in named.items():
        if not name:
            raise InputError(f"{record.where}: expected SwitchName= or BlockName=")
        for child in record.hosts("Switches"):
            if child not in named:
                raise InputError(f"{record.where}: switch {name!r} names {child!r}, unknown")
            if parent_of.setdefault(child, name) != name:
                raise InputError(f"{record.where}: switch {child!r} is below two others")
    above: dict[str, list[str]] = {}
    for name, record in named.items():
        # `scontrol show topology` names all nodes below a higher switch, too.
        if "Switches" in record.fields:
            continue
        way = [name]
        while way[-1] in parent_of:
            way.append(parent_of[way[-1]])
            if len(way) > len(named):
                raise InputError(f"{record.where}: switch {name!r} is below itself")
        for host in record.hosts("Nodes"):
            if host in above:
                raise InputError(f"{record.where}: host {host!r} is below two switches")
            above[host] = way[::-1]
    if not above:
        raise InputError(f"{path}: names no host below a switch")
    return above


def _blocks(records: list[_Record], blocks: list[_Record]) -> dict[str, list[str]]:
    """Blocks above each host, and groups of as many neighbouring blocks as BlockSizes has."""
    sizes_of = [record for record in records if "BlockSizes" in record.fields]
    try:
        texts = [text for r in sizes_of for text in r.fields["BlockSizes"].split(",") if text]
        sizes = sorted(int(text) for text in texts)
    except ValueError:
        raise InputError(f"{sizes_of[0].where}: BlockSizes: expected whole numbers") from None
    base = sizes[0] if sizes else 1
    wrong = [size for size in sizes if size < 1 or size % base]
    if wrong:
        raise InputError(f"{sizes_of[0].where}: BlockSizes: {wrong[0]} is no multiple of {base}")
    above: dict[str, list[str]] = {}
    for index, block in enumerate(blocks):
        groups = [
            f"blocks of {size} nodes, number {index // (size // base) + 1}"
            for size in reversed(sizes[1:])
        ]
        for host in block.hosts("Nodes"):
            if host in above:
                raise InputError(f"{block.where}: host {host!r} is in two blocks")
            above[host] = [*groups, block.fields["BlockName"]]
    return above
