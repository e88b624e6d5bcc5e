# SPDX-License-Identifier: Apache-2.0
"""The plan: a folder of files that the preload library reads; one writer per feature."""
