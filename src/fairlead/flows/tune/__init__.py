# SPDX-License-Identifier: Apache-2.0
"""`fairlead tune`, for schedules or among the MPI's own algorithms."""
