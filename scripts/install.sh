#!/usr/bin/env bash
# Builds distbench and puts it and test_builder on the PATH.
#
#   ./scripts/install.sh [--prefix=FOLDER]
#
# FOLDER is where the commands go, and defaults to $PREFIX, then to
# /usr/local/bin. Run it with sudo if the folder needs that.

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

main() {
  local folder=${PREFIX:-/usr/local/bin}
  while (($# > 0)); do
    case $1 in
      --prefix=*) folder=${1#--prefix=} ;;
      --prefix)
        (($# >= 2)) || die "--prefix needs a folder"
        folder=$2
        shift
        ;;
      -h | --help)
        usage
        return
        ;;
      *) die "unknown argument '$1'; see $0 --help" ;;
    esac
    shift
  done
  [[ -n $folder ]] || die "--prefix needs a folder"

  "$REPOSITORY/scripts/install_deps.sh"
  say "Building"
  bazel_do build //distbench/cli:distbench //test_builder/...
  mkdir -p "$folder"
  [[ -w $folder ]] ||
    die "$folder is not writable: run this with sudo, or choose another folder with --prefix=FOLDER"
  install_commands "$folder"
}

main "$@"
