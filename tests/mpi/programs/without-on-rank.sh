#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# without-on-rank.sh RANK VARIABLE PROGRAM...: that rank starts the program without the variable.
rank=$1 variable=$2
shift 2
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$rank" ]; then
  unset "$variable"
fi
exec "$@"
