# SPDX-License-Identifier: Apache-2.0
"""How many topologies of a run were reordered, by the files that the preload library leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pydantic

from fairlead.watch.run_records import read_records

__all__ = ["count_reordered"]


class _Reordered(pydantic.BaseModel, extra="forbid"):
    topologies: Annotated[int, pydantic.Field(ge=0)]


def count_reordered(folder: Path) -> int:
    """Communicators in which a process got another rank; 0 also where no file is seen here."""
    return sum(one.topologies for one in read_records(folder, "reorder", _Reordered))
