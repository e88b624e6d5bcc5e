# SPDX-License-Identifier: Apache-2.0
"""The messages that Open MPI sends inside collectives, by its own count of one run.

Its monitoring component counts them. It is no part of tracing, since with version 4.1.4 programs
with neighbourhood collectives or intercommunicators end in a segmentation fault under it.

Source: Bosilca, Foyer, Jeannot, Mercier and Papauré 2017 (monitoring in Open MPI).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["counting", "internal_bytes"]

_VARIABLE = "OMPI_MCA_pml_monitoring_"
_SEPARATE_INTERNAL, _INTO_FILES = "2", "3"
_INTERNAL = re.compile(r"^I\t(\d+)\t(\d+)\t(\d+) bytes\t", re.MULTILINE)


def counting(folder: Path) -> dict[str, str]:
    """Variables by which the ranks of a run leave their counts in a folder."""
    return {
        f"{_VARIABLE}enable": _SEPARATE_INTERNAL,
        f"{_VARIABLE}enable_output": _INTO_FILES,
        f"{_VARIABLE}filename": str(folder / "sent"),
    }


def internal_bytes(folder: Path, num_ranks: int) -> npt.NDArray[np.float64]:
    """Bytes inside collectives, shape (T, T), [src, dst].

    Raises:
        OSError: A rank has left no counts.
    """
    counted = np.zeros((num_ranks, num_ranks))
    for rank in range(num_ranks):
        for match in _INTERNAL.finditer((folder / f"sent.{rank}.prof").read_text()):
            src, dst, sent_bytes = map(int, match.groups())
            counted[src, dst] += sent_bytes
    return counted
