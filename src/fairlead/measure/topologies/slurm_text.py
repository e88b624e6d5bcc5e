# SPDX-License-Identifier: Apache-2.0
"""topology.conf and topology.yaml, as Slurm itself reads them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError
from fairlead.files.whole_file import read_text

__all__ = ["Record", "read_records"]

MOST_INCLUDED = 16
"""Files that include one another: more are taken for a loop."""

# Source: Slurm, parse_config.c: spaces may stand around the sign, and a value may be quoted.
_FIELD = re.compile(r'\s*([\w.]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)', re.A)
_INCLUDE = re.compile(r'\s*include\s+"?([^"]+?)"?\s*', re.A | re.I)
_COMMENT = re.compile(r"(?<!\\)#.*")
_IS_YAML = re.compile(r"(?:\s|#[^\n]*\n|%[^\n]*\n)*(?:---|-\s|\[|\{)")

_NAMES = {
    name.lower(): name
    for name in ("SwitchName", "BlockName", "Nodes", "Switches", "BlockSizes", "LinkSpeed", "Level")
}
_TRUE = ("true", "yes", "on", "y", "1")


@dataclasses.dataclass
class Record:
    """One line of topology.conf, or one entry of topology.yaml.

    Attributes:
        where: File and place, for errors.
        fields: By the names of topology.conf.
    """

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


def read_records(path: Path) -> list[Record]:
    """The switches, blocks and block sizes of a file in either form.

    Raises:
        InputError: It is neither, or names no switch; the message has file and place.
    """
    text = read_text(path)
    return _yaml(path, text) if _IS_YAML.match(text) else list(_conf(path, text, 0))


def _conf(path: Path, text: str, depth: int) -> Iterator[Record]:
    """Lines of `Name=value` fields, whose names are read in any case."""
    for number, line in _whole_lines(text):
        include = _INCLUDE.fullmatch(line)
        if include and depth >= MOST_INCLUDED:
            raise InputError(f"{path}:{number}: includes more than {MOST_INCLUDED} files in a row")
        if include:
            other = path.parent / include[1]
            yield from _conf(other, read_text(other), depth + 1)
            continue
        fields: dict[str, str] = {}
        at = 0
        while found := _FIELD.match(line, at):
            value = found[3] if found[2] is None else found[2]
            fields[_NAMES.get(found[1].lower(), found[1])] = value
            at = found.end()
        if line[at:].strip():
            raise InputError(f"{path}:{number}: expected Name=value fields, got {line.strip()!r}")
        yield Record(f"{path}:{number}", fields)


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, continued ones joined with nothing between, with their numbers."""
    begun, whole = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        part = _COMMENT.sub("", line).rstrip()
        begun = begun or number
        if part.endswith("\\"):
            whole += part[:-1]
            continue
        if (whole + part).strip():
            yield begun, whole + part
        begun, whole = 0, ""
    if whole.strip():
        yield begun, whole


def _yaml(path: Path, text: str) -> list[Record]:
    """The entries of the cluster's default topology, else of the first."""
    try:
        # All values stay text: a switch may be called `no` or 007.
        document = yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error
    topologies = _maps(f"{path}: the document", document)
    if not topologies:
        raise InputError(f"{path}: names no topology")
    default = [each for each in topologies if str(each.get("cluster_default", "")).lower() in _TRUE]
    chosen = (default or topologies)[0]
    name = chosen.get("topology", "")
    where = f"{path}: topology {name!r}"
    if isinstance(chosen.get("tree"), Mapping):
        return [
            _record(where, "switch", switch, {"nodes": "Nodes", "children": "Switches"})
            for switch in _maps(f"{where}: tree.switches", chosen["tree"].get("switches"))
        ]
    if isinstance(chosen.get("block"), Mapping):
        return list(_blocks(where, chosen["block"]))
    kinds = [key for key in chosen if key not in ("topology", "cluster_default")]
    raise InputError(f"{where} is {', '.join(kinds) or 'empty'}: it has no switches and no blocks")


def _blocks(where: str, block: Mapping[str, Any]) -> Iterator[Record]:
    sizes = block.get("block_sizes", [])
    sizes = sizes if isinstance(sizes, list) else [sizes]
    yield Record(f"{where}: block_sizes", {"BlockSizes": ",".join(map(str, sizes))})
    for each in _maps(f"{where}: block.blocks", block.get("blocks")):
        yield _record(where, "block", each, {"nodes": "Nodes"})


def _record(where: str, key: str, entry: Mapping[str, Any], names: Mapping[str, str]) -> Record:
    """A switch or block; a list of nodes is taken as well as their text."""
    name = entry.get(key)
    if not isinstance(name, str) or not name:
        raise InputError(f"{where}: expected the name of a {key}, got {dict(entry)!r:.80}")
    fields = {_NAMES[f"{key}name"]: name}
    for short, long in names.items():
        value = entry.get(short)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = ",".join(value)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{where}: {key} {name!r}: {short}: expected a list of names")
        if value:
            fields[long] = value
    return Record(f"{where}: {key} {name!r}", fields)


def _maps(where: str, value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        raise InputError(f"{where}: expected a list of `name: value` entries")
    return value
