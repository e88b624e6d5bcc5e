# SPDX-License-Identifier: Apache-2.0
"""Acting: MPI programs are started, with what Fairlead tells them."""
