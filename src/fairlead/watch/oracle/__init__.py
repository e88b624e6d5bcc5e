# SPDX-License-Identifier: Apache-2.0
"""What the network does now, along the routes that messages take, and a service that reports it."""

from fairlead.watch.oracle.oracle import METRICS, Answer, Oracle, Question

__all__ = ["METRICS", "Answer", "Oracle", "Question"]
