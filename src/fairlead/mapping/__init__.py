# SPDX-License-Identifier: Apache-2.0
"""Choosing a host for each rank."""
