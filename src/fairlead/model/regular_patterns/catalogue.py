# SPDX-License-Identifier: Apache-2.0
"""All regular patterns, and the one that a matrix is made by, if it is one of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from fairlead.model.regular_patterns.complete import complete_patterns
from fairlead.model.regular_patterns.grid import grid_patterns
from fairlead.model.regular_patterns.pattern import RegularPattern, matrix_of, values_of
from fairlead.model.regular_patterns.star import star_patterns

__all__ = ["PATTERNS", "find_pattern"]

PATTERNS = (complete_patterns, star_patterns, grid_patterns)
"""Each yields the hypotheses of its kind on a matrix."""

MOST_RESIDUAL = 0.02
"""Part of the bytes that may be elsewhere, or more or less than the pattern has them."""


def find_pattern(matrix: sp.csr_array) -> RegularPattern | None:
    """The pattern with the fewest classes that the matrix fits; None where it fits none.

    Args:
        matrix: Bytes of each pair, shape (T, T).
    """
    fitting = [one for one in _hypotheses(matrix) if residual_of(one, matrix) <= MOST_RESIDUAL]
    return min(fitting, key=lambda one: one.num_classes, default=None)


def _hypotheses(matrix: sp.csr_array) -> Iterator[RegularPattern]:
    for patterns in PATTERNS:
        yield from patterns(matrix)


def residual_of(pattern: RegularPattern, matrix: sp.csr_array) -> float:
    """Sum of the absolute differences to the pattern's own matrix, as part of the bytes."""
    num_ranks = matrix.shape[0]
    pairs = pattern.pairs(num_ranks)
    if pairs is None:
        return float("inf")
    made = matrix_of(pairs, values_of(pairs, pattern.num_classes, matrix), num_ranks)
    return float(np.abs(sp.csr_array(made - matrix).data).sum() / matrix.sum())
