# SPDX-License-Identifier: Apache-2.0
"""The range of seeds of random choices."""

from __future__ import annotations

from fairlead.errors import InputError

__all__ = ["MAX_SEED", "require_seed"]

MAX_SEED = 2**32 - 1
"""Scotch takes 32 bits; the other methods have the same bound, so that any seed fits all."""


def require_seed(seed: int) -> None:
    """Check a seed before it reaches compiled code.

    Raises:
        InputError: It is outside of 0 to MAX_SEED.
    """
    if not 0 <= seed <= MAX_SEED:
        raise InputError(f"seed: must be from 0 to {MAX_SEED}, got {seed}")
