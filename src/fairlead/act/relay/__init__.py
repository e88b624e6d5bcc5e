# SPDX-License-Identifier: Apache-2.0
"""Routers: one on each host of a job, for as long as it runs."""
