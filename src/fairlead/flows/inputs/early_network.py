# SPDX-License-Identifier: Apache-2.0
"""The network before a first run: measured as well as a choice by rates alone needs it."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.first_run import sure_pairs
from fairlead.decide.host_paths import faster_relays, probed_path_table
from fairlead.decide.measurer import HostsMeasurer
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.search import MOST_INTERFACES_S
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.measure.long_trains import LONG_TRAINS_BYTES
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.network import Network
from fairlead.narrator import Narrator

__all__ = ["measure_early"]

Mask = npt.NDArray[np.bool_]

MOST_EARLY_PAIRS_S = 2.0
"""Most time for pairs: one of 50 Mbit/s takes 0.17 s, and a network may be slow throughout."""


def measure_early(
    found: FoundNetwork, program: ProbeProgram, narrator: Narrator, *, has_budget: bool
) -> Mask:
    """Measure what shows whether relays may pay, as the decision after the run does it.

    The slowest pairs are measured again by long trains. Interfaces are measured where no pair has a
    faster path by a third host, since they show then whether several connections may be faster. A
    network that is kept was measured so, and its check has shown how the MPI sends.

    Args:
        found: Gets the network.
        program: The measuring program.
        narrator: Reports it to the user.
        has_budget: Whether the user has bounded the time of all measuring.

    Returns:
        The pairs whose rates are more than those of a quick probe, shape (H, H).

    Raises:
        Error: The network cannot be measured.
    """
    if found.is_known and program.sends_by_tcp is not None:
        return np.ones((found.cluster.num_hosts,) * 2, dtype=bool)
    network = found.measure()
    measurer = HostsMeasurer(program, found.cluster, None, network.launch_s, narrator)
    # This is for the first run. Only what the user bounds is bounded together.
    with found.record_time() if has_budget else contextlib.nullcontext():
        again = measurer.measure(_pairs_in_question(network), MOST_EARLY_PAIRS_S)
        if again is None:
            return np.zeros(network.bandwidth_Bps.shape, dtype=bool)
        network = network.with_measurements(again)
        alike = remove_noise(with_pooled_noise(network))
        if network.nic_out_Bps is None and not faster_relays(probed_path_table(network)):
            carried = measurer.interfaces(alike, MOST_INTERFACES_S)
            if carried is not None:
                network = dataclasses.replace(
                    network, nic_out_Bps=carried.out_Bps, nic_in_Bps=carried.in_Bps
                )
    found.refine(network)
    return sure_pairs(alike.bandwidth_Bps, np.isfinite(again.bandwidth_Bps))


def _pairs_in_question(network: Network) -> Mask:
    """The slowest pairs, as many as can be measured in the time."""
    is_pair: Mask = ~np.eye(network.num_hosts, dtype=bool)
    pair_Bps = np.minimum(network.bandwidth_Bps, network.bandwidth_Bps.T)
    pair_s = 2 * LONG_TRAINS_BYTES / float(np.nanmedian(pair_Bps[is_pair]))
    is_upper = np.triu(is_pair)
    num_pairs = min(int(MOST_EARLY_PAIRS_S / pair_s) + 1, int(np.count_nonzero(is_upper)))
    slowest_first = np.argsort(np.where(is_upper, pair_Bps, np.inf), axis=None)
    chosen: Mask = np.zeros(is_pair.shape, dtype=bool)
    chosen.ravel()[slowest_first[:num_pairs]] = True
    return chosen | chosen.T
