# SPDX-License-Identifier: Apache-2.0
"""What `ibnetdiscover` prints: nodes by their GUIDs, and the cables between them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines

__all__ = ["LANE_BPS", "Cable", "Fabric", "Node", "Passed", "parse_fabric", "require_fabric"]

LANE_BPS = {
    **{"SDR": 2e9 / 8, "DDR": 4e9 / 8, "QDR": 8e9 / 8, "FDR10": 10e9 / 8, "FDR": 13.64e9 / 8},
    **{"EDR": 25e9 / 8, "HDR": 50e9 / 8, "NDR": 100e9 / 8, "XDR": 200e9 / 8},
}
"""Data that one lane carries: SDR to QDR lose a fifth to their 8b/10b code.

Source: IBTA, InfiniBand roadmap and specification volume 2.
"""

AGGREGATION = "Mellanox Technologies Aggregation Node"
"""What a switch computes reductions with is no host."""

MOST_NODES = 2**16
"""Switches and adapters. Each has an address, of which a subnet has at most 49,151."""

MOST_CABLES = 2**20
"""Ends of cables."""

MOST_SHOWN = 60
"""Letters of a line that is named."""

_NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"[SHR]-(?:0x)?([0-9a-fA-F]+)"\s+#\s*"([^"]*)".*', re.A)
_NODE_LIKE = re.compile(r'\S+\s+\d+\s+"', re.A)
# A port of a switch in a chassis is also named as it is printed outside: [ext 3].
_PORT = re.compile(
    r"\[(\d+)\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?\s+"
    r'"[SHR]-(?:0x)?([0-9a-fA-F]+)"\[(\d+)\](?:\[ext \d+\])?\s*(?:\([0-9a-fA-F]+\))?\s*#(.*)',
    re.A,
)
_QUOTED = re.compile(r'"[^"]*"')
_WIDTH = re.compile(r"\b(\d+)x([A-Z]+\d*)\b", re.A)
_LID = re.compile(r"lid (\d+) lmc", re.A)
_SYSTEM = re.compile(r"sysimgguid=0x([0-9a-fA-F]+)", re.A)
_ATTRIBUTE = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=.*", re.A)


@dataclasses.dataclass(slots=True)
class Node:
    """A switch, an adapter or a router.

    Attributes:
        guid: What it is: hexadecimal, without leading zeros.
        kind: Switch, Ca or Rt.
        description: What it calls itself; several may say the same.
        system: GUID of the system image: the card or chassis that it is a part of.
        lid: Its address, of an adapter.
    """

    guid: str
    kind: str
    description: str
    system: str
    lid: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Cable:
    """One direction of a cable; `nan` is an unknown capacity."""

    src: str
    src_port: int
    dst: str
    dst_port: int
    capacity_Bps: float


@dataclasses.dataclass(frozen=True)
class Fabric:
    """All of it.

    Attributes:
        nodes: By GUID.
        cables: Both directions of each.
        problems: What was passed over or is missing, one line each.
    """

    nodes: dict[str, Node]
    cables: list[Cable]
    problems: list[str]


class Passed:
    """What was passed over: how many, and the first."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def add(self, line: str) -> None:
        """Count one."""
        self.first = self.first or line
        self.count += 1


def require_fabric(path: Path, num_nodes: int, num_cables: int) -> None:
    """Check how much a file has held so far.

    Raises:
        InputError: It is more than a subnet has.
    """
    for number, most, what in (
        (num_nodes, MOST_NODES, "nodes"), (num_cables, MOST_CABLES, "ends of cables"),
    ):  # fmt: skip
        if number > most:
            raise InputError(f"{path}: has more than {most} {what}, which no subnet has")


def parse_fabric(path: Path) -> Fabric:
    """Nodes and cables; headings, warnings and broken lines are passed over and counted.

    Raises:
        InputError: The file cannot be read, or holds no cable.
    """
    nodes: dict[str, Node] = {}
    # A port has one cable, also where a file holds the output of several runs.
    cables: dict[tuple[str, int], Cable] = {}
    node: Node | None = None
    system = ""
    passed_over = Passed()
    shared: dict[str, str] = {}
    # A node may describe itself by any bytes, as may comments.
    for number, line in enumerate(read_lines(path, errors="replace"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if _ATTRIBUTE.fullmatch(line):
            found = _SYSTEM.match(line)
            system = _canonical(found[1]) if found else system
            continue
        header = _NODE.fullmatch(line)
        if header:
            guid = _canonical(header[2])
            node = nodes.setdefault(guid, Node(guid, header[1], header[3], system or guid))
            system = ""
            require_fabric(path, len(nodes), len(cables))
            continue
        cable = None if node is None else _cable(node, line, shared)
        if cable is not None:
            cables.setdefault((cable.src, cable.src_port), cable)
            require_fabric(path, len(nodes), len(cables))
        elif AGGREGATION not in line:
            passed_over.add(f"line {number}: {line.strip()[:MOST_SHOWN]!r}")
            if _NODE_LIKE.match(line):
                node = None  # its ports are not those of the node before
    if not cables:
        got = f", got {passed_over.first}" if passed_over.count else ""
        raise InputError(f"{path}: holds no cable; expected what ibnetdiscover prints{got}")
    # Half of a file, or a node that did not answer: the cable is seen at one end only.
    seen = [cable for cable in cables.values() if cable.dst in nodes]
    return Fabric(nodes, seen, _problems(len(cables) - len(seen), seen, passed_over))


def _cable(node: Node, line: str, shared: dict[str, str]) -> Cable | None:
    """The cable at a port of a node; None where the line is no port.

    Args:
        node: The node.
        line: The line.
        shared: GUIDs that were read, each kept once.
    """
    found = _PORT.fullmatch(line)
    if found is None or AGGREGATION in found[4]:
        return None
    lid = _LID.search(found[4])
    if lid and node.kind == "Ca":
        node.lid = int(lid[1])
    width = _WIDTH.search(_QUOTED.sub("", found[4]))
    lane_Bps = float("nan") if width is None else LANE_BPS.get(width[2], float("nan"))
    # A port that is down may print a width of 0.
    capacity_Bps = (int(width[1]) or float("nan")) * lane_Bps if width else lane_Bps
    far = _canonical(found[2])
    far = shared.setdefault(far, far)
    return Cable(node.guid, int(found[1]), far, int(found[3]), capacity_Bps)


def _canonical(guid: str) -> str:
    return f"{int(guid, 16):x}"


def _problems(num_lost: int, cables: list[Cable], passed_over: Passed) -> list[str]:
    lines = []
    if num_lost:
        lines.append(f"{num_lost} cables lead to nodes that the file does not describe")
    num_slow = sum(1 for cable in cables if cable.capacity_Bps != cable.capacity_Bps)
    if num_slow:
        lines.append(f"{num_slow} ports of cables have no known speed")
    if passed_over.count:
        lines.append(
            f"{passed_over.count} lines are no node or port and were passed over, the first is "
            f"{passed_over.first}"
        )
    return lines
