# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# Fresh systems of a release in folders, made by debootstrap, in which scripts
# run as on a machine of their own. Source this file after lib.sh.

# Ends the script if this machine cannot make them.
require_fresh_systems() {
  ((EUID == 0)) || die "creating a system requires root: sudo $0"
  command -v debootstrap >/dev/null ||
    die "debootstrap is missing: apt-get install debootstrap"
}

# make_root FOLDER SUITE: a minimal system, with this machine's settings of apt. A
# system that is there already is used as it is.
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

# run_inside FOLDER COMMAND: runs a shell command in mount and process namespaces
# of its own, which end with the command in any case.
run_inside() {
  # shellcheck disable=SC2016  # Expanded inside.
  unshare --mount --pid --fork --kill-child bash -euc '
    # Tests that mount something need a root that is a mount point.
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" env --unset=TMPDIR HOME=/root \
      bash -euc "$2"
  ' run_inside "$1" "$2" </dev/null
}
