# SPDX-License-Identifier: Apache-2.0
"""Patterns of messages that are the same for any number of ranks, as hypotheses on a matrix."""
