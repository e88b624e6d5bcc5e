# shellcheck shell=bash disable=SC2154
# A machine in a folder: how it reaches packages, and how commands run in it. For scripts that have
# set `suite`, `mirror`, `base` (its folder), and `folder`, where commands begin.

# apt's lines for the suite, from the given mirror or from those that this machine uses.
list_sources() {
  if [[ -n $mirror ]]; then
    echo "deb $mirror $suite main"
    return
  fi
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
    sort --unique | while read -r label uri; do
    case $label in
      Debian) printf 'deb %s main\n' "$uri $suite" "$uri $suite-updates" ;;
      Debian-Security) echo "deb $uri $suite-security main" ;;
    esac
  done
}

# How this machine reaches packages and Python's index, whatever way that is.
take_over_network() {
  local path
  {
    printf '%s\n' /etc/{resolv.conf,hosts,pip.conf,xdg/pip} ~/.{config/pip,pip,netrc} \
      /etc/apt/auth.conf{,.d} /usr/local/share/ca-certificates
    # Files and folders that the settings name: certificates, folders of wheels.
    { network_variables && cat /etc/pip.conf ~/.{config/pip,pip}/pip.conf; } 2>/dev/null |
      grep -oE '(^|[= ])/[^ ,;"]+' | grep -oE '/.*' || true
  } | sort --unique | while read -r path; do
    [[ -e $path && $path != / ]] || continue
    mkdir -p "$base$(dirname "$path")"
    # Links are followed: what they lead to may lie elsewhere.
    cp --recursive --dereference --no-target-directory "$path" "$base$path" 2>/dev/null || true
  done
  echo fresh >"$base/etc/hostname"
  # As Debian's installer does: MPICH's daemons call mpirun back by the machine's name.
  echo "127.0.1.1 fresh" >>"$base/etc/hosts"
}

network_variables() {
  env | grep -E '^(PIP_|SSL_CERT_|REQUESTS_CA_BUNDLE=|CURL_CA_BUNDLE=|[A-Za-z]*_(proxy|PROXY)=)' |
    grep -vE '^PIP_CACHE_DIR=' || true
}

# in_machine ROOT COMMAND: run by a shell, with what a container has.
in_machine() {
  mapfile -t variables < <(network_variables)
  unshare --mount --pid --uts --ipc --fork --kill-child --propagation private -- \
    bash -euc "$enter" enter "$1" "$2" "${folder:-/root}" "${variables[@]}"
}

# Not chroot: the kernel allows a process in one no user namespace, which labs without root need.
# shellcheck disable=SC2016
enter='
root=$1 command=$2 folder=$3
shift 3
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 tmpfs dev
mkdir -p dev/net dev/pts dev/shm
for device in null zero full random urandom tty net/tun; do
  [[ -e /dev/$device ]] || continue
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for number in 0 1 2; do ln -s "/proc/self/fd/$number" "dev/$(cut -d" " -f$((number + 1)) <<<"stdin stdout stderr")"; done
hostname fresh
pivot_root . .
umount -l .
cd "$folder"
# Not exec: process 1 has to collect orphans, which this shell does.
env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  "$@" bash -c "$command"
'
