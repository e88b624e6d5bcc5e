# SPDX-License-Identifier: Apache-2.0
"""Gives each name of a docstring's line "low, high: text" one of its own, as mkdocstrings needs."""

from __future__ import annotations

import re
from typing import Any

import griffe

_JOINT = re.compile(r"^(?P<indent> +)(?P<names>\w+(?:, \w+)+): (?P<text>.*)$", re.MULTILINE)


class SplitNames(griffe.Extension):
    """Changes the docstrings that are read, not the code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Split the joint lines of one docstring; further lines of the text stay with the last."""
        if obj.docstring is not None:
            obj.docstring.value = _JOINT.sub(_split, obj.docstring.value)


def _split(line: re.Match[str]) -> str:
    *others, last = line["names"].split(", ")
    same = [f"{line['indent']}{name}: As `{last}`." for name in others]
    return "\n".join([*same, f"{line['indent']}{last}: {line['text']}"])
