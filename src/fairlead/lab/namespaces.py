# SPDX-License-Identifier: Apache-2.0
"""The Linux calls that make a host: namespaces, mounts and the host name."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["bind_file", "in_network_of", "mount", "spawn_in_own_namespaces", "unshare"]

# <linux/sched.h>; the standard library has unshare() and setns() from Python 3.12 on only.
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWNET = 0x40000000
_MS_BIND = 0x1000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Give the calling process new namespaces of these kinds."""
    _check(_libc.unshare(flags), "unshare")


def mount(kind: str, target: str, flags: int = 0, source: str | None = None) -> None:
    """Mount a file system of this kind ("proc", "tmpfs"), or bind `source` to `target`."""
    origin = (source or kind).encode()
    _check(
        _libc.mount(origin, target.encode(), kind.encode(), ctypes.c_ulong(flags), None),
        f"mount {kind} on {target}",
    )


def bind_file(source: Path, target: Path) -> None:
    """Make `target` show the content of `source`, in this mount namespace only."""
    mount("none", str(target), _MS_BIND, str(source))


@contextlib.contextmanager
def in_network_of(pid: int) -> Iterator[None]:
    """Enter another process's network namespace; sockets opened meanwhile stay there."""
    with open("/proc/self/ns/net", "rb") as own, open(f"/proc/{pid}/ns/net", "rb") as other:  # noqa: PTH123
        _check(_libc.setns(other.fileno(), CLONE_NEWNET), f"enter the network of process {pid}")
        try:
            yield
        finally:
            _check(_libc.setns(own.fileno(), CLONE_NEWNET), "return to the process's own network")


def spawn_in_own_namespaces(name: str, prepare: Callable[[], None]) -> int:
    """Start a process that only holds a host's namespaces.

    Args:
        name: Host name inside.
        prepare: Called inside before the process counts as ready.

    Returns:
        The process id; its namespaces are complete.

    Raises:
        OSError: The kernel refused; the message says what.
    """
    ready, done = os.pipe()
    pid = os.fork()
    if pid == 0:
        _hold_namespaces(name, prepare, done)
    os.close(done)
    with os.fdopen(ready, "rb") as reader:
        problem = reader.read().decode()
    if problem != "ready":
        os.waitpid(pid, 0)
        raise OSError(f"host {name}: {problem or 'died while starting'}")
    return pid


def _hold_namespaces(name: str, prepare: Callable[[], None], done: int) -> None:
    try:
        unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS)
        socket.sethostname(name)
        prepare()
        os.write(done, b"ready")
    except BaseException as error:
        os.write(done, str(error).encode())
        os._exit(1)
    os.close(done)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    while True:
        signal.pause()
