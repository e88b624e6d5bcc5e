# SPDX-License-Identifier: Apache-2.0
"""The environment in which a program runs under the preload library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def preloaded(env: Mapping[str, str], library: Path, **switches: str) -> dict[str, str]:
    """The variables `env`, with the library loaded first and its switches set.

    Args:
        env: Variables of the job; a library that it or the own environment preloads stays.
        library: The preload library of the program's MPI.
        switches: Variables that switch the library's features on.
    """
    others = env.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", ""))
    libraries = f"{library}:{others}" if others else str(library)
    return {**env, "LD_PRELOAD": libraries, **switches}
