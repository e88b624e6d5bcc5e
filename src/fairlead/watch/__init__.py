# SPDX-License-Identifier: Apache-2.0
"""Watching: what runs have taken, and what has changed in the network."""
