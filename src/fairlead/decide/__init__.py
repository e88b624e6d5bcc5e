# SPDX-License-Identifier: Apache-2.0
"""Deciding: whether a placement is worth using, which hosts to use, cores for several jobs."""
