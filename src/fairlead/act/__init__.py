# SPDX-License-Identifier: Apache-2.0
"""Acting: starts MPI programs with what Fairlead decided."""
