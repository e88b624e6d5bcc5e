# SPDX-License-Identifier: Apache-2.0
# Folders of core/ and relay/ that the MPI side links; the library of each is named fairlead_ and its last part.
set(fairlead_core_parts
    core/network
    core/host
    core/mapping/cost
    core/mapping/anneal
    core/mapping/roles
    core/collectives
    relay/wire
    relay/routing
    relay/endpoint
)
