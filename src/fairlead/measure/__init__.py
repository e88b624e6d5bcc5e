# SPDX-License-Identifier: Apache-2.0
"""Measuring the network and the traffic of programs."""
