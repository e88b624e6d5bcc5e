# SPDX-License-Identifier: Apache-2.0
"""Many jobs on shared nodes: what they send, where they are placed, what they then wait for."""
