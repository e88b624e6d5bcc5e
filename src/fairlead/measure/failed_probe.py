# SPDX-License-Identifier: Apache-2.0
"""Why the measuring program failed, in the launcher's words, and what helps."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairlead.measure.probe_program import PROGRESS

__all__ = ["reason_of"]

_OWN = re.compile(r"fairlead-probe: error (.*)")
_TROUBLE = re.compile(r"error|fail|unable|cannot|could not|did not|denied|no such|no space", re.I)
_RULE = re.compile(r"[-* \t=]*")
_SAID_LINES = 6

# What Open MPI 4.1.4 and 5.0.11 print where hosts have interfaces of one address, such as docker0.
_SAME_ADDRESS = re.compile(
    r"cannot find a corresponding process\s+entry for that peer|"
    r"inbound MPI TCP connection request from a peer"
)
_REMEDIES = {
    _SAME_ADDRESS: "the hosts have interfaces of one address, such as docker0: name the network "
    "between them, --launcher-args '--mca btl_tcp_if_include NETWORK/BITS'"
}


def reason_of(stderr: str) -> str:
    """The reason in the error output of the measuring program, in one line with its remedy.

    Launchers print the reason first, in a paragraph, and general remarks at the end.
    """
    own = _OWN.findall(stderr)
    if own:
        return str(own[-1])
    lines = [line.strip() for line in stderr.splitlines() if not PROGRESS.search(line)]
    said = " ".join(_from_first_trouble(lines)) or "no message"
    remedies = [text for pattern, text in _REMEDIES.items() if pattern.search(" ".join(lines))]
    return "; ".join([said, *remedies])


def _from_first_trouble(lines: Iterable[str]) -> list[str]:
    """Lines from the beginning of the first paragraph that names a trouble, each once."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if _RULE.fullmatch(line):
            paragraphs.append([])
        else:
            paragraphs[-1].append(line)
    with_trouble = [
        index for index, lines in enumerate(paragraphs) if any(map(_TROUBLE.search, lines))
    ]
    first = with_trouble[0] if with_trouble else 0
    rest = [line for paragraph in paragraphs[first:] for line in paragraph]
    return list(dict.fromkeys(rest))[:_SAID_LINES]
