# SPDX-License-Identifier: Apache-2.0
"""Where a user's files of each kind are (XDG Base Directory Specification, version 0.8)."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["base_folder"]


def base_folder(variable: str, usual: str) -> Path:
    """The folder that a variable names, or else the usual one below the home folder.

    Args:
        variable: For example "XDG_CACHE_HOME". A relative path counts as none, as the
            specification has it: it would name another folder after each change of the folder.
        usual: For example ".cache".
    """
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else _home() / usual


def _home() -> Path:
    """The home folder; the root folder where there is none.

    A container that runs under a number without an entry in /etc/passwd has none. Container
    runtimes set HOME to the root folder then; what cannot be kept there is reported as lost.
    """
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")
