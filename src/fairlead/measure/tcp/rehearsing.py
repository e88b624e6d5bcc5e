# SPDX-License-Identifier: Apache-2.0
"""Sends a pattern in several orders of hosts in turns, all of its messages at the same time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.measure.tcp.probes import TcpProbes
from fairlead.narrator import Progress

__all__ = ["PatternTimes", "rehearse_orders"]

PatternTimes = npt.NDArray[np.float64]
"""Seconds of each round and order, shape (R, orders)."""

_LIMIT_S = 60.0


def rehearse_orders(
    probes: TcpProbes,
    orders: Sequence[Sequence[str]],
    sent_bytes: sp.csr_array,
    *,
    num_rounds: int,
    silence_timeout_s: float = 10.0,
    on_progress: Progress | None = None,
) -> PatternTimes:
    """Time the pattern in each order; the orders take turns, so that load affects all alike.

    Args:
        probes: The programs on all hosts.
        orders: For each, the host of every block of ranks, length B.
        sent_bytes: What the blocks send each other, shape (B, B).
        num_rounds: How often each order is timed, R, after one round that does not count.
        silence_timeout_s: Silence after which a host is given up.
        on_progress: Gets rounds done and rounds in all.

    Raises:
        ProbeError: A host failed; the message names it.
    """
    pairs = sent_bytes.tocoo()
    sent = list(zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True))
    for number, order in enumerate(orders):
        flows: dict[str, list[object]] = {}
        for src, dst, size in sent:
            flows.setdefault(order[src], []).append([probes.place(order[dst]), int(size)])
        orders_of_host = {
            host: {
                "do": "prepare",
                "set": number,
                "flows": own,
                "silence_timeout_s": silence_timeout_s,
            }
            for host, own in flows.items()
        }
        probes.ask_all(orders_of_host, _LIMIT_S)
    senders = [{order[src] for src, _dst, _size in sent} for order in orders]
    times_s = np.zeros((num_rounds + 1, len(orders)))
    for index in range(num_rounds + 1):
        # The one that begins alternates as well.
        for number in np.roll(np.arange(len(orders)), index).tolist():
            run = {"do": "run", "set": number}
            answers = probes.ask_all(dict.fromkeys(senders[number], run), _LIMIT_S)
            times_s[index, number] = max(float(found["seconds"]) for found in answers.values())
        if on_progress:
            on_progress(index + 1, num_rounds + 1)
    return times_s[1:]
