# SPDX-License-Identifier: Apache-2.0
"""The commands as a whole: every step of the loop, in order."""
