# SPDX-License-Identifier: Apache-2.0
"""Measuring: what the network does, what the program sends."""
