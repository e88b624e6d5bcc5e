# SPDX-License-Identifier: Apache-2.0
"""Measuring a part of the pairs and estimating the others.

`partition` finds groups of hosts that see the network alike, `groups` and `low_rank` estimate
pairs, `estimation` picks between them by held-out error and makes the error bars, `completion`
applies that to a network, `sampler` says which pairs to measure, and `rounds` does both in turns.
"""

from fairlead.measure.sampling.completion import complete
from fairlead.measure.sampling.rounds import SamplePlan
from fairlead.measure.sampling.sampler import Sampler

__all__ = ["SamplePlan", "Sampler", "complete"]
