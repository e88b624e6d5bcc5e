#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The twin of where.c without MPI: daemons of invented hosts on one machine start it safely, whereas
# the ranks of an MPI would find one another's shared memory.
value=$(printf %s "$WHERE_VALUE" | od -An -v -tx1 | tr -d ' \n')
printf 'rank %d %s %s.\n' "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "${FAKE_HOST:-here}" "$value"
# Open MPI 5 may wait for ever for ranks that end within milliseconds.
sleep 1
