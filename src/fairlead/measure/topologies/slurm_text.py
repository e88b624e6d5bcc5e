# SPDX-License-Identifier: Apache-2.0
"""topology.conf and topology.yaml, as Slurm itself reads them."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.documents import MOST_YAML_LETTERS, load_yaml

__all__ = ["Record", "read_records"]

MOST_INCLUDED = 16
"""Files that include one another: more are taken for a loop."""

MOST_LINE_BYTES = 2**20
"""Longest line: a switch may list the names of a hundred thousand nodes."""

MOST_RECORDS = 2**17
"""Lines of switches or blocks, of which a machine of 158,976 nodes has one for each two."""

# Source: Slurm, parse_config.c: spaces may stand around the sign, and a value may be quoted.
_FIELD = re.compile(r'\s*([\w.]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)', re.A)
_INCLUDE = re.compile(r'\s*include\s+"?([^"]+?)"?\s*', re.A | re.I)
_COMMENT = re.compile(r"(?<!\\)#.*")
_BEFORE_YAML = ("#", "%")
_IS_YAML = re.compile(r"\s*(?:---|-(?:\s|$)|\[|\{)")

_NAMES = {
    name.lower(): name
    for name in ("SwitchName", "BlockName", "Nodes", "Switches", "BlockSizes", "LinkSpeed", "Level")
}
_TRUE = ("true", "yes", "on", "y", "1")


@dataclasses.dataclass(slots=True)
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


def read_records(path: Path) -> tuple[list[Record], list[str]]:
    """The switches, blocks and block sizes of a file in either form.

    Returns:
        The records, and a line where not the topology that Slurm would take is taken.

    Raises:
        InputError: It is neither, or names no switch; the message has file and place.
    """
    # Slurm reads bytes: comments may be in any encoding, and names have letters of ASCII alone.
    lines = enumerate(read_lines(path, most_bytes=MOST_LINE_BYTES, errors="replace"), 1)
    begun: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip() and not line.lstrip().startswith(_BEFORE_YAML):
            begun = [(number, line)]
            break
    if begun and _IS_YAML.match(begun[0][1]):
        return _yaml(path, itertools.chain(begun, lines))
    records = []
    for record in _conf(path, itertools.chain(begun, lines), 0):
        records.append(record)
        if len(records) > MOST_RECORDS:
            raise InputError(f"{record.where}: is after more than {MOST_RECORDS} switches")
    return records, []


def _conf(path: Path, lines: Iterable[tuple[int, str]], depth: int) -> Iterator[Record]:
    """Lines of `Name=value` fields, whose names are read in any case."""
    for number, line in _whole_lines(path, lines):
        include = _INCLUDE.fullmatch(line)
        if include and depth >= MOST_INCLUDED:
            raise InputError(f"{path}:{number}: includes more than {MOST_INCLUDED} files in a row")
        if include:
            other = path.parent / include[1]
            included = read_lines(other, most_bytes=MOST_LINE_BYTES, errors="replace")
            yield from _conf(other, enumerate(included, 1), depth + 1)
            continue
        fields: dict[str, str] = {}
        at = 0
        while found := _FIELD.match(line, at):
            value = found[3] if found[2] is None else found[2]
            fields[_NAMES.get(found[1].lower(), found[1])] = value
            at = found.end()
        if line[at:].strip():
            raise InputError(
                f"{path}:{number}: expected Name=value fields, got {line.strip()!r:.80}"
            )
        yield Record(f"{path}:{number}", fields)


def _whole_lines(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines without comments, continued ones joined with nothing between, with their numbers."""
    begun, whole = 0, ""
    for number, line in lines:
        part = _COMMENT.sub("", line).rstrip()
        begun = begun or number
        if part.endswith("\\"):
            whole += part[:-1]
            if len(whole) > MOST_LINE_BYTES:
                raise InputError(f"{path}:{begun}: goes on for more than {MOST_LINE_BYTES} bytes")
            continue
        if (whole + part).strip():
            yield begun, whole + part
        begun, whole = 0, ""
    if whole.strip():
        yield begun, whole


def _yaml(path: Path, lines: Iterable[tuple[int, str]]) -> tuple[list[Record], list[str]]:
    """The entries of the cluster's default topology, else of the first.

    A flat topology says nothing of cables, so another one of the file is taken, and named.
    """
    pieces: list[str] = []
    size = 0
    for _, line in lines:
        pieces.append(line)
        size += len(line) + 1
        if size > MOST_YAML_LETTERS:
            break
    topologies = _maps(f"{path}: the document", load_yaml(path, "\n".join(pieces)))
    if not topologies:
        raise InputError(f"{path}: names no topology")
    default = [each for each in topologies if str(each.get("cluster_default", "")).lower() in _TRUE]
    first = (default or topologies)[0]
    chosen = first
    if "flat" in first:
        chosen = next((each for each in topologies if "tree" in each or "block" in each), first)
    name = chosen.get("topology", "")
    where = f"{path}: topology {name!r}"
    passed_over = []
    if chosen is not first:
        passed_over.append(f"topology {first.get('topology', '')!r} is flat: {name!r} is taken")
    if isinstance(chosen.get("tree"), Mapping):
        switches = _maps(f"{where}: tree.switches", chosen["tree"].get("switches"))
        names = {"nodes": "Nodes", "children": "Switches"}
        return [_record(where, "switch", switch, names) for switch in switches], passed_over
    if isinstance(chosen.get("block"), Mapping):
        return list(_blocks(where, chosen["block"])), passed_over
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
