# SPDX-License-Identifier: Apache-2.0
"""Deciding: which placement is worth it, which hosts, which cores of several jobs."""
