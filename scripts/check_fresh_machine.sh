#!/usr/bin/env bash
# For maintainers: proves on a minimal fresh system that the documented commands
# are all that a user needs. Makes the system with debootstrap in a temporary
# folder, clones this checkout's HEAD into it and runs the commands there.
#
#   sudo ./scripts/check_fresh_machine.sh SUITE [COMMAND...]
#
#   SUITE    a release that debootstrap knows, such as bookworm or trixie
#   COMMAND  what to run in the clone; default: quickstart.sh, then test.sh
#
# Mirror and apt settings are those of this machine. FRESH_MACHINE_FOLDER names
# the folder to use, and to keep for another run, instead of a temporary one.

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly DEFAULT_COMMAND='./scripts/quickstart.sh && ./scripts/test.sh'

# The first Debian mirror that apt uses here.
configured_mirror() {
  # shellcheck disable=SC2016  # apt-get expands these.
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" { print $2; exit }'
}

# make_root FOLDER SUITE
make_root() {
  local root=$1 suite=$2 mirror
  if [[ -e $root/etc/debian_version ]]; then
    say "Using the system in $root"
    return
  fi
  mirror=$(configured_mirror)
  [[ -n $mirror ]] ||
    die "apt knows no Debian mirror here; is this a Debian system?"
  say "Making a minimal $suite system in $root"
  run_quietly debootstrap --variant=minbase "$suite" "$root" "$mirror"
  # Proxies and the like.
  apt-config dump Acquire >"$root/etc/apt/apt.conf.d/00acquire"
}

# run_inside FOLDER COMMAND: with mounts and processes of its own, so that both
# are gone when it ends, however it ends.
run_inside() {
  # shellcheck disable=SC2016  # Expanded inside.
  unshare --mount --pid --fork --kill-child bash -euc '
    # Tests that mount something need a root that is a mount point.
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" env --unset=TMPDIR HOME=/root \
      bash -euc "cd /root/distbench; $2"
  ' run_inside "$1" "$2" </dev/null
}

main() {
  (($# >= 1)) || die "which release? For example: $0 bookworm"
  ((EUID == 0)) || die "making a system takes root: sudo $0 $*"
  command -v debootstrap >/dev/null ||
    die "debootstrap is missing: apt-get install debootstrap"
  local suite=$1
  shift

  local root
  if [[ -n ${FRESH_MACHINE_FOLDER-} ]]; then
    root=$FRESH_MACHINE_FOLDER
  else
    root=$(mktemp -d)
    chmod 755 "$root" # apt drops its privileges to fetch.
    # shellcheck disable=SC2064  # The folder is known now, and local.
    trap "rm -rf --one-file-system '$root'" EXIT
  fi
  make_root "$root" "$suite"

  say "Cloning the checkout's HEAD:" \
    "$(git -C "$REPOSITORY" log -1 --format='%h %s')"
  rm -rf --one-file-system "$root/root/distbench"
  git clone --quiet --no-hardlinks "$REPOSITORY" "$root/root/distbench"

  local command=${*:-$DEFAULT_COMMAND}
  say "Running in the clone: $command"
  run_inside "$root" "$command"
  say "On a fresh $suite: all well."
}

main "$@"
