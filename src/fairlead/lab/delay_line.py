# SPDX-License-Identifier: Apache-2.0
"""Delay without netem: a process next to the switches delays packets.

    h0 eth0 --- port0 [rack0] uplink0 ---
                      [     ] line0 --- fairlead-delay-line

Each switch has one more port, a TAP device with an Ethernet address of its own. Hosts send packets
of delayed pairs to this address. The process reads the packet's IP addresses, delays it, sets the
real Ethernet address, and returns the packet to the switch. Packets of other pairs do not pass it.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence

from pyroute2 import IPRoute
from pyroute2.netlink.rtnl import ndmsg

from fairlead.errors import LabError
from fairlead.files.package_folders import found_in_package
from fairlead.lab.ends import End, index_of
from fairlead.lab.shaping import MTU_BYTES
from fairlead.lab.topology import Matrix, Topology

__all__ = ["add_delay_line", "start_delay_line"]

_PROGRAM = "_lab/fairlead-delay-line"
_QUEUE_PACKETS = 4096
"""Packets that may wait at each TAP device while the process does not run: 30 ms of 1 Gbit/s in
jumbo frames."""


def add_delay_line(
    switch: IPRoute, switches: Sequence[str], topology: Topology, ends: Sequence[End]
) -> int:
    """Delay all pairs by the topology's delays.

    Args:
        switch: Connection in the network of the switches.
        switches: Names of the racks' switches.
        topology: Racks and delays.
        ends: The hosts' interfaces; more may follow.

    Returns:
        Process id of the delay line; when it ends, delayed pairs are cut off.

    Raises:
        LabError: The process did not start; the message says why.
    """
    hosts = ends[: topology.num_hosts]
    taps = [f"line{rack}" for rack in range(len(switches))]
    pid = start_delay_line(taps, _table(hosts, topology.delay_s))
    for tap, name in zip(taps, switches, strict=True):
        _add_port(switch, tap, name)
    for src, dst in topology.delayed_pairs():
        hosts[src].send_by(hosts[dst].address, _hardware(taps[topology.rack_of_host[src]]))
    return pid


def start_delay_line(taps: Sequence[str], table: str, program: str = _PROGRAM) -> int:
    """Start the process that delays packets, and wait until it is ready.

    Args:
        taps: Names of the TAP devices that it makes.
        table: Its input, in the form of `HostTable::read`.
        program: Relative to the package, or an absolute path.

    Returns:
        Its process id.

    Raises:
        LabError: The program is missing or did not start; the message says why.
    """
    found = found_in_package(program)
    if not found:
        raise LabError(f"the program {program} is missing; install Fairlead again")
    process = subprocess.Popen(
        [found[0], *taps], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(table)
    # Closing tries again to write the rest.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    with process.stdout:
        answer = process.stdout.readline().strip()
    if answer != "ready":
        process.kill()
        process.wait()
        raise LabError(
            f"the delay line did not start: {answer or 'it died'}; the kernel has no netem, and "
            "without it delays need TAP devices (modprobe tun, as root; other users need the right "
            "to open /dev/net/tun)"
        )
    return process.pid


def _table(hosts: Sequence[End], delay_s: Matrix) -> str:
    """A line for each host: its addresses, and its delay to each host in ns."""
    lines = [str(len(hosts))]
    for host, row in zip(hosts, delay_s, strict=True):
        delays_ns = [str(round(delay * 1e9)) for delay in row]
        lines.append(" ".join([host.address, host.hardware, *delays_ns]))
    return "\n".join(lines) + "\n"


def _add_port(switch: IPRoute, tap: str, name: str) -> None:
    """Make a TAP device a port of a switch, which gets only packets for its own address."""
    index = index_of(switch, tap)
    master = index_of(switch, name)
    switch.link("set", index=index, mtu=MTU_BYTES, txqlen=_QUEUE_PACKETS, master=master, state="up")
    # Returned packets have the hosts' own source addresses, which the switch must not learn here.
    flags = dict.fromkeys(("learning", "unicast_flood", "mcast_flood", "bcast_flood"), 0)
    switch.brport("set", index=index, **flags)
    static, of_switch = ndmsg.states["noarp"], ndmsg.flags["master"]
    switch.fdb("add", ifindex=index, lladdr=_hardware(tap), state=static, flags=of_switch)


def _hardware(tap: str) -> str:
    """Ethernet address of a line; not the TAP device's own, whose packets the switch would keep."""
    return f"02:66:6c:64:6c:{int(tap.removeprefix('line')):02x}"
