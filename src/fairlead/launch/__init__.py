# SPDX-License-Identifier: Apache-2.0
"""Starting MPI programs by the launcher that the user has."""
