# SPDX-License-Identifier: Apache-2.0
"""What a lab leaves in the kernel: namespaces and processes, as /proc shows them."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from pyroute2 import IPRoute

KINDS = ("net", "uts", "ipc", "mnt", "pid")


def holder_pid(folder):
    """Process that keeps the lab in `folder` running."""
    return int((folder / "holder").read_text().split()[0].removeprefix("pid="))


def processes_of_lab(holder):
    """Folders in /proc of all processes in the holder's PID namespace; zombies have left it."""
    own = Path(f"/proc/{holder}/ns/pid").readlink()
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "ns/pid").readlink() == own:
                found.add(process)
    return found


def namespaces_of_lab(holder):
    """Namespaces of all processes in the holder's PID namespace, as "net:[123]"."""
    found = set()
    for process in processes_of_lab(holder):
        with contextlib.suppress(OSError):
            found |= {str((process / "ns" / kind).readlink()) for kind in KINDS}
    return found


def still_there(namespaces):
    """Those of the namespaces that some process still is in."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        for kind in KINDS:
            with contextlib.suppress(OSError):
                found.add(str((process / "ns" / kind).readlink()))
    return namespaces & found


def link_names():
    """Interfaces of the namespace that the test runs in."""
    with IPRoute() as netlink:
        return {link.get_attr("IFLA_IFNAME") for link in netlink.get_links()}


def happens(condition, timeout_s=600):
    """Whether the condition comes to hold in time."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.02)
    return True
