# SPDX-License-Identifier: Apache-2.0
"""Whole commands: all steps of the loop, in order."""
