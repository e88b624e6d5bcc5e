# SPDX-License-Identifier: Apache-2.0
"""Showing networks, traffic and runs in the terminal and as a page."""
