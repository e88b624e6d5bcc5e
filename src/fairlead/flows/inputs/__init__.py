# SPDX-License-Identifier: Apache-2.0
"""What every flow that starts a program needs first: hosts, traffic, network."""
