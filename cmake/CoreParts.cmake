# SPDX-License-Identifier: Apache-2.0
# Folders of core/ that the MPI side links; the library of each is named fairlead_ and its last part.
set(fairlead_core_parts
    network
    relay
    mapping/cost
    mapping/anneal
    mapping/roles
    collectives
)
