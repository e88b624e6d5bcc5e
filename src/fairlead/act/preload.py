# SPDX-License-Identifier: Apache-2.0
"""The environment in which a program runs under the preload library."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from fairlead.act.mpi_builds import user_folder
from fairlead.errors import LaunchError

# ld.so(8): LD_PRELOAD is split at blanks and colons, "there is no support for escaping either".
_SEPARATOR = re.compile(r"[\s:]")


def preload_variables(env: Mapping[str, str], library: Path, **switches: str) -> dict[str, str]:
    """The variables `env`, with the library loaded first and its switches set.

    Args:
        env: Variables of the program; libraries preloaded by it or by this process's own
            environment stay.
        library: The preload library of the program's MPI.
        switches: Variables that switch the library's features on.

    Raises:
        LaunchError: The loader does not accept the library's path, and no other path can be made.
    """
    others = env.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", ""))
    path = _without_separators(library)
    libraries = f"{path}:{others}" if others else str(path)
    return {**env, "LD_PRELOAD": libraries, **switches}


def has_separator(path: Path) -> bool:
    """Whether the loader would split this path."""
    return _SEPARATOR.search(str(path)) is not None


def _without_separators(library: Path) -> Path:
    """The library, or a link to it from the folder where `fairlead mpi add` builds for this user.

    Hosts that share that folder also have the link.
    """
    if not has_separator(library):
        return library
    key = hashlib.sha256(os.fsencode(library)).hexdigest()[:16]
    link = user_folder().with_name("preload") / key / library.name
    if has_separator(link):
        raise LaunchError(
            f"{library}: the loader takes no library with a blank or ':' in its path (LD_PRELOAD), "
            f"and {link} is none without; install Fairlead elsewhere, or set XDG_DATA_HOME"
        )
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            link.symlink_to(library)
    except OSError as error:
        raise LaunchError(
            f"{link}: cannot be made; it must replace {library}, since the loader accepts no blank "
            f"and no ':' in the path of a library: {error.strerror}"
        ) from error
    return link
