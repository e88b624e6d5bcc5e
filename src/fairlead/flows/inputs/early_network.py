# SPDX-License-Identifier: Apache-2.0
"""The network before a first run: measured as well as a choice by rates alone needs it."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.measurer import HostsMeasurer
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.routes import faster_relays, probed_path_table
from fairlead.decide.search import MOST_INTERFACES_S, MOST_PAIRS_S
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.measure.long_trains import LONG_TRAINS_BYTES
from fairlead.measure.probe_program import ProbeProgram
from fairlead.narrator import Narrator

__all__ = ["measure_early"]


def measure_early(
    found: FoundNetwork, program: ProbeProgram, narrator: Narrator, *, has_budget: bool
) -> None:
    """Measure what shows whether relays may pay, as the decision after the run does it.

    The slowest pairs are measured again by long trains. Interfaces are measured where no pair has a
    faster path by a third host, since they show then whether several connections may be faster. A
    network that is kept was measured so, and its check has shown how the MPI sends.

    Args:
        found: Gets the network.
        program: The measuring program.
        narrator: Reports it to the user.
        has_budget: Whether the user has bounded the time of all measuring.

    Raises:
        Error: The network cannot be measured.
    """
    if found.is_known and program.sends_by_tcp is not None:
        return
    network = found.measure()
    measurer = HostsMeasurer(program, found.cluster, None, network.launch_s, narrator)
    # This is for the first run. Only what the user bounds is bounded together.
    with found.record_time() if has_budget else contextlib.nullcontext():
        again = measurer.measure(_slowest_pairs(network.bandwidth_Bps), MOST_PAIRS_S)
        if again is not None:
            network = network.with_measurements(again)
        if network.nic_out_Bps is None and not faster_relays(probed_path_table(network)):
            alike = remove_noise(with_pooled_noise(network))
            carried = measurer.interfaces(alike, MOST_INTERFACES_S)
            if carried is not None:
                network = dataclasses.replace(
                    network, nic_out_Bps=carried.out_Bps, nic_in_Bps=carried.in_Bps
                )
    found.refine(network)


def _slowest_pairs(bandwidth_Bps: np.ndarray) -> np.ndarray:
    """As many of the slowest pairs as can be measured in the time, each in both directions."""
    pair_Bps = np.triu(np.minimum(bandwidth_Bps, bandwidth_Bps.T), 1)
    rates_Bps = np.where(pair_Bps > 0, pair_Bps, np.inf)
    order = np.argsort(rates_Bps, axis=None)
    sorted_Bps = rates_Bps.ravel()[order]
    seconds = np.cumsum(2 * LONG_TRAINS_BYTES / sorted_Bps)
    chosen = np.zeros(rates_Bps.shape, dtype=bool)
    chosen.ravel()[order[np.isfinite(sorted_Bps) & (seconds <= MOST_PAIRS_S)]] = True
    return chosen | chosen.T
