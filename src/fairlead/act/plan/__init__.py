# SPDX-License-Identifier: Apache-2.0
"""The plan: a folder that the preload library reads; a file and its writer for each feature."""
