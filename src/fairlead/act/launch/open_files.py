# SPDX-License-Identifier: Apache-2.0
"""The limit of open files, which launches on many hosts may exceed."""

from __future__ import annotations

import errno
import resource

__all__ = ["explain_lack_of_files", "lack_of_files"]

# MPICH's mpiexec keeps a pipe for output, one for errors and a socket for each host, and needs both
# ends of a pipe while it starts a host: 4.0.2 failed with 256 files and 600 hosts.
_FILES_PER_HOST = 4
_OTHER_FILES = 64


def lack_of_files(error: BaseException) -> str:
    """The limit and its remedy if it caused the error, else ""; to be appended to the message."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if not isinstance(cause, OSError) or cause.errno != errno.EMFILE:
        return ""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return f"; at most {limit} files may be open: raise that by ulimit -n {4 * limit}"


def explain_lack_of_files(num_hosts: int) -> str:
    """The same for a failed launch that may have needed more open files than allowed."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    needed = _FILES_PER_HOST * num_hosts + _OTHER_FILES
    if limit == resource.RLIM_INFINITY or limit >= needed:
        return ""
    return (
        f"; at most {limit} files may be open, which may be too few for {num_hosts} hosts: raise "
        f"that by ulimit -n {needed}"
    )
