# SPDX-License-Identifier: Apache-2.0
"""The page of the Python API: every name of `fairlead.__all__`, read by mkdocstrings."""

from __future__ import annotations

import types

import fairlead as fl

HEAD = """\
# Python API

`import fairlead as fl` gives these names. Matrices are `[src, dst]`: row sends, column receives.
Units are in the names: `_s`, `_bytes`, `_Bps`.
"""


def python_page() -> str:
    """A heading for each public name, with its types and its docstring."""
    sections = [_section(f"fl.{name}", getattr(fl, name)) for name in fl.__all__]
    return "\n".join([HEAD, *sections])


def _section(name: str, thing: object, home: str = "fairlead") -> str:
    if isinstance(thing, types.ModuleType):
        parts = [
            _section(f"{name}.{part}", getattr(thing, part), thing.__name__)
            for part in getattr(thing, "__all__", ())
        ]
        return "\n".join([f"## {name}\n", f"{thing.__doc__}\n", *parts])
    # A constant does not know its module.
    module = getattr(thing, "__module__", home)
    return f"## {name}\n\n::: {module}.{name.rpartition('.')[2]}\n"
