# SPDX-License-Identifier: Apache-2.0
"""Which network devices of a host are its physical ports, so that no byte is counted twice.

A veth, bridge, bond, VLAN or tunnel sends by another device; on Azure the device of an accelerated
network sends by a virtual function, which is a device of its own, too. What a device is follows
from its relations: to hardware, to devices below and above it, to those of the same address.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Collection, Iterable, Sequence

__all__ = ["Device", "is_chosen", "physical_ports"]

LOOPBACK_TYPE, NO_ADDRESS_TYPE = 772, 65534
"""Types of link layers: ARPHRD_LOOPBACK and ARPHRD_NONE. Source: Linux, if_arp.h."""

LOOPBACK_FLAG, MASTER_FLAG, SLAVE_FLAG = 0x8, 0x400, 0x800
"""Source: netdevice(7), IFF_LOOPBACK, IFF_MASTER and IFF_SLAVE."""

NAMED_BY_USER = 3
"""A device that a program made and named, as no hardware is. Source: sysfs-class-net."""

SURELY_MORE_RATIO = 1.1
"""What is scraped of two devices of one address differs by the packets in between."""

VIRTUAL_DRIVERS = frozenset(
    {
        *("bonding", "bridge", "dummy", "ifb", "ipvlan", "macvlan", "openvswitch", "team", "tun"),
        *("veth", "vxlan", "geneve", "gre", "ip_tunnel", "wireguard", "802.1Q VLAN Support"),
    }
)

_REPRESENTOR = re.compile(r"(c\d+)?pf\d+(vf|sf)\d+", re.A)
"""Physical port name of a device that stands for a virtual function of the same port."""

_BY_NAME = re.compile(
    r"lo|docker.*|veth.*|br-.*|br\d+|ifb.*|virbr.*|dummy.*|cali.*|flannel.*|tun.*|tap.*|cni.*"
    r"|bond\d+|team\d+|vlan.*|.*\.\d+|lxc.*|lxd.*|cilium.*|azv.*|eni[0-9a-f]{6,}|gke.*|vxlan.*"
    r"|genev.*|gre.*|sit\d+|ip6tnl.*|wg\d+|macv.*|ovs.*|weave.*|kube-.*|nodelocaldns|vmnet.*"
    r"|podman.*|nerdctl.*|incus.*|vmbr.*|fw(br|ln|pr)\d+.*|vnet\d+|cbr\d+|antrea.*|ovn-.*|zt.*"
    r"|tailscale.*|ipvlan.*|erspan.*|ip6gre.*|(ip_|ip6_)?vti\d+|teql\d+|nlmon\d+|v?can\d+",
    re.A,
)
"""Devices whose packets pass another one, where nothing but their names is known."""


@dataclasses.dataclass(frozen=True)
class Device:
    """What is known of a network device; None where a source does not say it.

    Attributes:
        name: As the kernel calls it.
        has_hardware: Whether a bus of the host has it.
        address: Hardware address.
        index, lower_index: Its own number, and that of the device that it sends by.
        link_type: Type of the link layer, by if_arp.h.
        flags: IFF_*.
        name_assign_type: Who named it, by sysfs-class-net.
        driver: Its driver.
        master: Device above it.
        port_name: Name of its physical port.
        is_bond: It sends by several others, and adds up what they carry.
        moved_bytes: What it has carried lately, both ways.
        knows_relations: Hardware and master come from the kernel: None is none, not unknown.
    """

    name: str
    has_hardware: bool | None = None
    address: str | None = None
    index: int | None = None
    lower_index: int | None = None
    link_type: int | None = None
    flags: int | None = None
    name_assign_type: int | None = None
    driver: str | None = None
    master: str | None = None
    port_name: str | None = None
    is_bond: bool = False
    moved_bytes: float = 0.0
    knows_relations: bool = False


def is_chosen(name: str, patterns: Sequence[str]) -> bool:
    """Whether a device is one of those that the user named, as `eth*` or `mlx5_0`."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def physical_ports(devices: Iterable[Device], patterns: Sequence[str] = ()) -> set[str]:
    """Names of the devices that are counted.

    Args:
        devices: All devices of a host.
        patterns: The user's choice; empty: by what the devices are.
    """
    devices = [device for device in devices if not _is_loopback(device)]
    if patterns:
        return {device.name for device in devices if is_chosen(device.name, patterns)}
    if devices and all(device.knows_relations for device in devices):
        return _with_hardware(devices)
    return _by_relations(devices)


def _is_loopback(device: Device) -> bool:
    has_flag = bool((device.flags or 0) & LOOPBACK_FLAG)
    return device.name == "lo" or device.link_type == LOOPBACK_TYPE or has_flag


def _with_hardware(devices: Sequence[Device]) -> set[str]:
    """Where it is known which devices have hardware: those that send by no other one."""
    hardware = {device.name for device in devices if device.has_hardware}
    ports = {
        device.name
        for device in devices
        if device.has_hardware
        and not _sends_by_another(device)
        and not _REPRESENTOR.fullmatch(device.port_name or "")
        # A virtual function below the device of an accelerated network, which counts both.
        and device.master not in hardware
    }
    if ports:
        return ports
    # A container's only way out is a device whose other end is in another namespace.
    here = {device.index for device in devices}
    return {
        device.name
        for device in devices
        if _sends_by_another(device) and device.lower_index not in here
    }


def _by_relations(devices: Sequence[Device]) -> set[str]:
    """Where hardware is not known: by the devices below, and equal hardware addresses."""
    left = [device for device in devices if not _is_virtual(device)]
    by_address: dict[str, list[Device]] = {}
    for device in left:
        by_address.setdefault(_own_address(device) or device.name, []).append(device)
    above = [device for device in devices if device not in left]
    ports = {
        device.name
        for address, some in by_address.items()
        if not all(_has_virtual_name(device) for device in some)
        for device in (some if _are_added_up(address, some, above) else [_widest(some)])
    }
    return ports - _bonds_without_address(left) - _members_of_bonds(left)


def _is_virtual(device: Device) -> bool:
    if device.is_bond or (device.flags or 0) & MASTER_FLAG:
        return False  # it is compared with those of the same address
    if device.has_hardware is False or device.driver in VIRTUAL_DRIVERS:
        return True
    if device.has_hardware:
        return _sends_by_another(device)
    if _sends_by_another(device) or device.link_type == NO_ADDRESS_TYPE:
        return True
    return device.name_assign_type == NAMED_BY_USER


def _has_virtual_name(device: Device) -> bool:
    """Whether a device is virtual by its name, and nothing else says what it is."""
    is_known = device.has_hardware or device.name_assign_type is not None
    return not is_known and _BY_NAME.fullmatch(device.name) is not None


def _sends_by_another(device: Device) -> bool:
    return None not in (device.index, device.lower_index) and device.index != device.lower_index


def _own_address(device: Device) -> str | None:
    """Hardware address, unless it is none: zeros, or the one that all devices of a CNI have."""
    address = (device.address or "").lower()
    return address if address.strip("0:") and set(address) != set("e:") else None


def _widest(devices: Collection[Device]) -> Device:
    """The device of one address that carries what all of it carry: their counters overlap."""
    return max(
        devices,
        key=lambda each: (
            each.is_bond or bool((each.flags or 0) & MASTER_FLAG),
            each.moved_bytes,
            not (each.flags or 0) & SLAVE_FLAG,
            _BY_NAME.fullmatch(each.name) is None,
            -len(each.name),
        ),
    )


def _are_added_up(address: str, some: Sequence[Device], above: Sequence[Device]) -> bool:
    """Whether a device of their address adds up what these carry, as a team does of its ports."""
    carried = [each.moved_bytes for each in above if _own_address(each) == address]
    widest = max(device.moved_bytes for device in some)
    is_any_bond = any(each.is_bond or (each.flags or 0) & MASTER_FLAG for each in some)
    return not is_any_bond and max(carried, default=0.0) > SURELY_MORE_RATIO * widest


def _members_of_bonds(devices: Sequence[Device]) -> set[str]:
    """Members of bonds that are counted: each may have kept its own address (fail_over_mac)."""
    bonds = [each for each in devices if each.is_bond or (each.flags or 0) & MASTER_FLAG]
    if not bonds or not all(map(_own_address, bonds)):
        return set()
    return {each.name for each in devices if each not in bonds and (each.flags or 0) & SLAVE_FLAG}


def _bonds_without_address(devices: Sequence[Device]) -> set[str]:
    """Bonds of which no member is known: their members are counted one by one."""
    return {device.name for device in devices if device.is_bond and _own_address(device) is None}
