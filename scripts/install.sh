#!/usr/bin/env bash
# Builds distbench and installs distbench and test_builder on the PATH.
#
#   ./scripts/install.sh [--prefix=FOLDER]
#
# FOLDER is where the commands are installed. It defaults to $PREFIX, then to
# /usr/local/bin. Uses sudo for this last step if the folder requires it.

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Prints the prefix of commands that write to the folder: nothing, or sudo.
# Builds always run as the user.
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
  say "Building; the first time takes some minutes"
  # Stamps the source revision, which results then contain.
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
      say "Done, but $folder is not on your PATH:" \
        "export PATH=\"$folder:\$PATH\""
      ;;
  esac
}

main "$@"
