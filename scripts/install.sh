#!/usr/bin/env bash
# Builds distbench and puts it and test_builder on the PATH.
#
#   ./scripts/install.sh [--prefix=FOLDER]
#
# FOLDER is where the commands go, and defaults to $PREFIX, then to
# /usr/local/bin. If the folder needs it, sudo is used for that last step.

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The command that may write to the folder: nothing, or sudo. Builds stay the
# user's own.
owner_command() {
  local existing=$1
  until [[ -e $existing ]]; do
    existing=$(dirname "$existing")
  done
  if [[ -w $existing ]]; then
    return
  fi
  command -v sudo >/dev/null ||
    die "$existing is not writable; choose another folder with --prefix=FOLDER"
  echo sudo
}

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
  say "Building; the first time this takes some minutes"
  # With the revision of the source, which results then name.
  bazel_do build --stamp "${PROGRAMS[@]}"
  say "Installing distbench and test_builder in $folder"
  local as_owner
  as_owner=$(owner_command "$folder")
  $as_owner install -D -m 755 \
    "$REPOSITORY/bazel-bin/distbench/cli/distbench" "$folder/distbench"
  $as_owner install -D -m 755 \
    "$REPOSITORY/bazel-bin/test_builder/test_builder_main" \
    "$folder/test_builder"
  case :$PATH: in
    *:"$folder":*) say "Done; try: distbench help" ;;
    *)
      say "Done; $folder is not on your PATH yet:" \
        "export PATH=\"$folder:\$PATH\""
      ;;
  esac
}

main "$@"
