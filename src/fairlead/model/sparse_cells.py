# SPDX-License-Identifier: Apache-2.0
"""Some cells of a sparse matrix."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["cells"]


def cells(
    matrix: sp.csr_array, rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """Values at these places, shape (S,), 0 where none is stored.

    SciPy's own way to them fails where there are no places.
    """
    if not len(rows):
        return np.zeros(0)
    return np.asarray(matrix[rows, columns], dtype=np.float64).reshape(-1)
