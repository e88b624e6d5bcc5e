# SPDX-License-Identifier: Apache-2.0
"""Planning collective operations on a measured network."""

from fairlead.decide.collectives.catalogue import METHODS, OPERATIONS, methods_for
from fairlead.decide.collectives.planning import lower_bound_s, plan, predicted_s

__all__ = ["METHODS", "OPERATIONS", "lower_bound_s", "methods_for", "plan", "predicted_s"]
