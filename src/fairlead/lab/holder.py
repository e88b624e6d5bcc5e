# SPDX-License-Identifier: Apache-2.0
"""The process that keeps a lab running: holds the namespaces, shapes the network, obeys requests.

It is process 1 of a PID namespace, so the kernel ends every process of the lab when it ends for any
reason. Started as `python -m fairlead.lab.holder FOLDER`, with the lab's orders on stdin.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairlead.lab import control
from fairlead.lab.addresses import LOGIN, hosts_file
from fairlead.lab.background import start_background
from fairlead.lab.host_quotas import HostQuotas
from fairlead.lab.link_counters import LinkCounters
from fairlead.lab.namespaces import bind_file, mount, spawn_in_own_namespaces
from fairlead.lab.network import LabNetwork
from fairlead.lab.scenario import Scenario
from fairlead.lab.serving import serve
from fairlead.lab.torus import SYSCTLS_OF_ROUTERS, TorusWiring
from fairlead.lab.wiring import Wiring

# The first that the kernel allows. BBR (some kernels' default) estimates the rate by itself and
# reaches it only after seconds. Some kernels keep CUBIC for their first network namespace.
_CONGESTION_CONTROLS = ("cubic", "reno")
# Settings of every network namespace: connections must not use values of earlier ones, and a lost
# packet must not cost the 200 ms that suit the Internet.
_SYSCTLS = {
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_rto_min_us": "10000",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
}
# A stream needs a buffer of twice the data in transit: at 1 Gbit/s and 20 ms more than the usual 4
# MB.
_SYSCTLS_OF_FAR_HOSTS = {
    "net/ipv4/tcp_rmem": "4096 131072 67108864",
    "net/ipv4/tcp_wmem": "4096 16384 67108864",
}


def main(folder: Path) -> None:
    """Build the lab, print that on stdout, then serve until asked to end."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(PermissionError):
        # Checks should measure the network, not the competition for this machine's cores.
        os.nice(-20)
    starter = sys.stdin.buffer
    try:
        scenario = Scenario.model_validate_json(starter.readline())
        network = _build(scenario, folder)
        requests = control.listen(folder)
    except Exception as error:
        _answer({"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    _answer({"ready": True})
    serve(network, scenario, requests, starter.fileno())


def _build(scenario: Scenario, folder: Path) -> LabNetwork:
    _write_holder(folder)
    # From here on /proc shows the lab's own processes only.
    mount("proc", "/proc")
    bind_file(_written(folder / "hosts", hosts_file(scenario.host_names)), Path("/etc/hosts"))
    pids = folder / "pids"
    pids.mkdir()
    sysctls = _SYSCTLS | (_SYSCTLS_OF_FAR_HOSTS if scenario.latency is not None else {})
    prepare = functools.partial(_prepare_host, sysctls)
    pid_of_host = {
        host: spawn_in_own_namespaces(host, prepare) for host in (*scenario.host_names, LOGIN)
    }
    for host, pid in pid_of_host.items():
        _written(pids / host, f"{pid}\n")
    network = LabNetwork(scenario, pid_of_host)
    network.quotas = HostQuotas(folder, pid_of_host, scenario.host_names)
    for host, ratio in scenario.speed.items():
        network.quotas.set_speed(host, ratio)
    if network.topology.torus is not None:
        routers = dict.fromkeys(network.topology.torus.router_of_host)
        forward = functools.partial(_prepare_host, sysctls | SYSCTLS_OF_ROUTERS)
        pid_of_router = {name: spawn_in_own_namespaces(name, forward) for name in routers}
        torus = TorusWiring(network.topology, pid_of_host | pid_of_router)
        network.wiring = torus
        network.counters = LinkCounters(
            [(pid_of_router[router], index) for router, index in torus.interface_of_link]
        )
    else:
        delay_by = None if scenario.latency is None else scenario.latency.by
        network.wiring = Wiring(network.topology, pid_of_host, delay_by)
    start_background(
        [pid_of_host[host] for host in scenario.host_names],
        [
            (network.index(stream.src), network.index(stream.dst), stream.rate)
            for stream in scenario.background
        ],
    )
    return network


def _write_holder(folder: Path) -> None:
    """Write the process id outside the namespace, for the script `enter`."""
    pid = Path("/proc/self").readlink().name
    rootless = "" if Path("/proc/self/uid_map").read_text().split()[1:2] == ["0"] else "yes"
    _written(folder / "holder", f"pid={pid}\nrootless={rootless}\n")


def _prepare_host(sysctls: Mapping[str, str]) -> None:
    # Like real hosts, they share no memory.
    mount("tmpfs", "/dev/shm")
    for congestion_control in _CONGESTION_CONTROLS:
        if _set("net/ipv4/tcp_congestion_control", congestion_control):
            break
    for name, value in sysctls.items():
        # Ignored: a kernel without one of them (IPv6, or before 6.11) still makes a useful lab.
        _set(name, value)


def _set(sysctl: str, value: str) -> bool:
    """Whether the kernel took the value."""
    try:
        Path("/proc/sys", sysctl).write_text(value)
    except OSError:
        return False
    return True


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _answer(message: dict[str, Any]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
