# SPDX-License-Identifier: Apache-2.0
"""The emulated cloud: one machine becomes hosts with an uneven network between them."""
