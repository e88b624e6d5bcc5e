# SPDX-License-Identifier: Apache-2.0
"""The network before a first run: measured as well as a choice by rates alone needs it."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.measurer import HostsMeasurer
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.routes import faster_relays, probed_path_table
from fairlead.decide.search import ALL_PAIRS_HOSTS, MOST_INTERFACES_S, MOST_PAIRS_S
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.measure.long_trains import LONG_TRAINS_BYTES
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.network import Network
from fairlead.narrator import Narrator

__all__ = ["measure_early"]

Mask = npt.NDArray[np.bool_]


def measure_early(
    found: FoundNetwork, program: ProbeProgram, narrator: Narrator, *, has_budget: bool
) -> Mask:
    """Measure what shows whether relays may pay, as the decision after the run does it.

    Pairs are measured again by long trains. Interfaces are measured where no pair has a faster path
    by a third host, since they show then whether several connections may be faster. A network that
    is kept was measured so, and its check has shown how the MPI sends.

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
        again = measurer.measure(_pairs_in_question(network), MOST_PAIRS_S)
        is_sure: Mask = np.zeros(network.bandwidth_Bps.shape, dtype=bool)
        if again is not None:
            network = network.with_measurements(again)
            is_sure = np.isfinite(again.bandwidth_Bps)
        if network.nic_out_Bps is None and not faster_relays(probed_path_table(network)):
            alike = remove_noise(with_pooled_noise(network))
            carried = measurer.interfaces(alike, MOST_INTERFACES_S)
            if carried is not None:
                network = dataclasses.replace(
                    network, nic_out_Bps=carried.out_Bps, nic_in_Bps=carried.in_Bps
                )
    found.refine(network)
    return is_sure


def _pairs_in_question(network: Network) -> Mask:
    """All pairs of few hosts, otherwise as many of the slowest as can be measured in the time."""
    pair_Bps = np.minimum(network.bandwidth_Bps, network.bandwidth_Bps.T)
    is_pair: Mask = ~np.eye(network.num_hosts, dtype=bool)
    if network.num_hosts <= ALL_PAIRS_HOSTS:
        return is_pair
    pair_s = 2 * LONG_TRAINS_BYTES / float(np.nanmedian(pair_Bps[is_pair]))
    slowest_first = np.argsort(np.where(np.triu(is_pair), pair_Bps, np.inf), axis=None)
    num_pairs = min(int(MOST_PAIRS_S / pair_s), int(np.count_nonzero(np.triu(is_pair))))
    chosen: Mask = np.zeros(is_pair.shape, dtype=bool)
    chosen.ravel()[slowest_first[:num_pairs]] = True
    return chosen | chosen.T
