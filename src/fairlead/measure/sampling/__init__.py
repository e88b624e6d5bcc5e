# SPDX-License-Identifier: Apache-2.0
"""Measuring a part of the pairs and estimating the others.

`partition` finds groups of hosts with similar measurements, `groups` estimates pairs by them,
`estimation` selects the groups by held-out error and computes the error bars, `completion` applies
this to a network, `sampler` chooses the pairs to measure, and `rounds` measures and estimates in
turns.
"""

from fairlead.measure.sampling.completion import complete
from fairlead.measure.sampling.rounds import SampleDesign
from fairlead.measure.sampling.sampler import Sampler

__all__ = ["SampleDesign", "Sampler", "complete"]
