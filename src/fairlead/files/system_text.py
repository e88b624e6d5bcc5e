# SPDX-License-Identifier: Apache-2.0
"""Texts from the system: arguments and names of files, in which any byte but NUL may stand.

Python keeps bytes that are not UTF-8 as lone surrogates (PEP 383), which no JSON text may have
(RFC 8259, section 8.2): pydantic neither writes nor reads them.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import pydantic

__all__ = ["SystemText", "dump_json", "in_utf8"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def in_utf8(text: str) -> str:
    r"""The text with each byte that is not UTF-8 in the form "\udcff", as errors show it."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


SystemText = Annotated[str, pydantic.AfterValidator(in_utf8)]
"""A field of a file for such a text: it can be written, and a user recognises it."""


def dump_json(value: Any) -> str:
    """A value as JSON with lines and indents; what JSON has no form for is written by `str`.

    Each text in it is as `in_utf8` has it.
    """
    text = json.dumps(value, indent=2, default=str, ensure_ascii=False)
    # Inside a text of JSON a backslash is written twice.
    return _LONE_SURROGATE.sub(lambda found: "\\" + in_utf8(found[0]), text)
