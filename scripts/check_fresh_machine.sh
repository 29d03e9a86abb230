#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

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
# shellcheck source=scripts/fresh_system.sh
source "$(dirname "${BASH_SOURCE[0]}")/fresh_system.sh"

readonly DEFAULT_COMMAND='./scripts/quickstart.sh && ./scripts/test.sh'

main() {
  (($# >= 1)) || die "which release? For example: $0 bookworm"
  require_fresh_systems
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
  run_inside "$root" "cd /root/distbench; $command"
  say "On a fresh $suite, everything works."
}

main "$@"
