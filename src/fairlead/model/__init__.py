# SPDX-License-Identifier: Apache-2.0
"""The model: networks, traffic, clusters, placements, and what a placement costs."""
