#!/usr/bin/env bash
# For maintainers: proves on a minimal fresh system that the documented commands
# are all that a user needs. Creates the system with debootstrap in a temporary
# folder, clones this checkout's HEAD into it and runs the commands there.
#
#   sudo ./scripts/check_fresh_machine.sh SUITE [COMMAND...]
#
#   SUITE    a release that debootstrap knows, such as bookworm or trixie
#   COMMAND  command to run in the clone; default: quickstart.sh, then test.sh
#
# The mirror and apt settings are those of this machine. Set
# FRESH_MACHINE_FOLDER to use that folder instead of a temporary one, and to
# keep it for later runs.

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly DEFAULT_COMMAND='./scripts/quickstart.sh && ./scripts/test.sh'

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
  say "Creating a minimal $suite system in $root"
  run_quietly debootstrap --variant=minbase "$suite" "$root" "$mirror"
  # Proxy settings, for example.
  apt-config dump Acquire >"$root/etc/apt/apt.conf.d/00acquire"
}

# run_inside FOLDER COMMAND: uses separate mount and process namespaces, which
# end with the command in any case.
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
  ((EUID == 0)) || die "creating a system requires root: sudo $0 $*"
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
    # shellcheck disable=SC2064  # The folder is known here and is local.
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
  say "On a fresh $suite, everything works."
}

main "$@"
