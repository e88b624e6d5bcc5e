# SPDX-License-Identifier: Apache-2.0
"""The holder's loop: requests, planned changes, and the end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import sys
import time
from typing import Any

from fairlead.errors import Error, InputError
from fairlead.lab import control
from fairlead.lab.network import LabNetwork
from fairlead.lab.pings import measure_latency_s
from fairlead.lab.scenario import Scenario
from fairlead.lab.streams import measure_Bps

__all__ = ["KEEP", "serve"]

KEEP = b"keep\n"
"""Written by the starter to keep the lab after its own end."""


def serve(network: LabNetwork, scenario: Scenario, requests: socket.socket, starter: int) -> None:
    """Serve until a request, a signal, or the starter's death ends the lab.

    Args:
        network: The network that requests and planned changes affect.
        scenario: Its changes are made at their times, counted from now.
        requests: Listening socket.
        starter: Pipe from the process that started the lab. If it closes without `KEEP`, the
            starter has ended, and the lab ends too.
    """
    start_s = time.monotonic()
    changes = sorted(scenario.changes, key=lambda change: change.at_s)
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        selector.register(starter, selectors.EVENT_READ)
        selector.register(_signals(), selectors.EVENT_READ)
        while True:
            wait_s = changes[0].at_s - (time.monotonic() - start_s) if changes else None
            events = selector.select(wait_s if wait_s is None else max(wait_s, 0))
            for key, _ in events:
                if key.fileobj is requests:
                    if _serve_one(network, requests):
                        return
                elif key.fileobj == starter:
                    if os.read(starter, len(KEEP)) != KEEP:
                        return
                    selector.unregister(starter)
                elif signal.SIGTERM in os.read(key.fd, 64):
                    return
            if network.wiring.delay_line in _reap():
                print("the delay line has died, and with it the lab", file=sys.stderr)
                return
            while changes and changes[0].at_s <= time.monotonic() - start_s:
                network.apply(changes.pop(0))


def _serve_one(network: LabNetwork, requests: socket.socket) -> bool:
    """Serve one request; true when it was the last."""
    with contextlib.suppress(OSError, ValueError), requests.accept()[0] as connection:
        request = control.receive(connection)
        try:
            reply = _obey(network, request)
        except Error as error:
            reply = {"error": str(error)}
        except (KeyError, TypeError, ValueError) as error:
            # A wrong request of one client must not end the lab for all others.
            reply = {"error": f"request {request.get('do')!r}: not understood: {error!r}"}
        control.answer(connection, reply)
        return request.get("do") == "end"
    return False


def _obey(network: LabNetwork, request: dict[str, Any]) -> dict[str, Any]:
    match request["do"]:
        case "topology":
            return network.topology.to_json()
        case "degrade":
            network.degrade(request["src"], request["dst"], request["ratio"])
        case "cut":
            network.cut_host(request["host"])
        case "measure":
            pairs = _pairs(request["pairs"], len(network.topology.hosts))
            pids = [network.pid_of_host[host] for host in network.topology.hosts]
            rates = measure_Bps(pids, pairs, request["warm_up_s"], request["seconds"])
            return {"Bps": rates}
        case "ping":
            pairs = _pairs(request["pairs"], len(network.topology.hosts))
            pids = [network.pid_of_host[host] for host in network.topology.hosts]
            farthest_s = float(network.topology.delay_s.max())
            return {"s": measure_latency_s(pids, pairs, request["repeats"], farthest_s)}
        case "delay_by":
            return {"delay_by": network.wiring.delay_by.value}
        case "slow":
            network.quotas.set_speed(request["host"], request["ratio"])
        case "links" | "load" | "end loads":
            return _obey_links(network, request)
        case "end":
            pass
        case unknown:
            raise InputError(f"there is no request {unknown!r}")
    return {}


def _obey_links(network: LabNetwork, request: dict[str, Any]) -> dict[str, Any]:
    """What concerns the links: their counters, and traffic that fills them."""
    if request["do"] == "links":
        return network.link_counters()
    if request["do"] == "load":
        network.add_load(request["src"], request["dst"])
        return {}
    return {"num_pairs": network.end_loads()}


def _pairs(given: Any, num_hosts: int) -> list[tuple[int, int]]:
    """Pairs of two hosts by their numbers.

    Raises:
        InputError: One of them is not such a pair; the message contains it.
    """
    for pair in given:
        if not (
            isinstance(pair, list)
            and len(pair) == 2
            and all(type(host) is int and 0 <= host < num_hosts for host in pair)
            and pair[0] != pair[1]
        ):
            raise InputError(
                f"pairs: expected two different numbers of hosts, 0 to {num_hosts - 1}, got {pair}"
            )
    return [(src, dst) for src, dst in given]


def _signals() -> int:
    """A pipe that gets the number of each SIGTERM and SIGCHLD."""
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return reader


def _reap() -> list[int]:
    """Reap ended processes: process 1 inherits all orphans of the lab."""
    dead = []
    with contextlib.suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            dead.append(pid)
    return dead
