# SPDX-License-Identifier: Apache-2.0
"""Watching: the times of runs, and changes in the network."""
