#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# on-hosts.sh HOST,HOST,... COMMAND...: rank r runs the command on a machine that calls itself by the
# r-th name: the host name of a namespace is real for everyone who asks the kernel.
names=$1
shift
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
name=$(echo "$names" | cut -d, -f$((rank + 1)))
[ "$(id -u)" = 0 ] || user=-Ur
# The preload library belongs to the command alone.
preload=$LD_PRELOAD
unset LD_PRELOAD
# shellcheck disable=SC2016,SC2086
exec unshare $user --uts sh -c \
    'hostname "$1" && preload=$2 && shift 2 && exec env ${preload:+LD_PRELOAD="$preload"} "$@"' \
    sh "$name" "$preload" "$@"
