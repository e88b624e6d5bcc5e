# SPDX-License-Identifier: Apache-2.0
"""mpiP's report, which is recognised and refused: it counts what ranks send, but not to whom.

Source: mpiP 3.5, user guide, sections of the report.
"""

from __future__ import annotations

from pathlib import Path

from fairlead.errors import InputError
from fairlead.model.traffic import Traffic

__all__ = ["is_mpip", "read_mpip"]

FIRST_LINE = b"@ mpiP"


def is_mpip(path: Path) -> bool:
    """By the ending of its name, or by its first line."""
    if path.suffix == ".mpiP":
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(len(FIRST_LINE)) == FIRST_LINE
    except OSError:
        return False


def read_mpip(path: Path) -> Traffic:
    """Never returns: which ranks are partners is not in the report.

    Raises:
        InputError: Always, with what to do instead.
    """
    raise InputError(
        f"{path}: mpiP counts what each rank sends and not to whom, so that no placement follows "
        "from it; trace the program by fairlead trace, or give Open MPI's monitoring or OTF2"
    )
