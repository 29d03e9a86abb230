#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Builds distbench and installs distbench and test_builder on the PATH.
#
#   ./scripts/install.sh [--core] [--prefix=FOLDER]
#
# --core leaves out the products, such as the load search, the simulation and the
# dashboard (docs/architecture.md, "Two storeys").
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
  local folder=${PREFIX:-/usr/local/bin} core=
  while (($# > 0)); do
    case $1 in
      --core) core=yes ;;
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

  "$REPOSITORY/scripts/install_deps.sh" --to-build
  local programs=("${PROGRAMS[@]}") distbench=$DISTBENCH_PROGRAM
  local test_builder=$TEST_BUILDER_PROGRAM
  if [[ -n $core ]]; then
    programs=("${CORE_PROGRAMS[@]}") distbench=$DISTBENCH_CORE
    test_builder=$TEST_BUILDER_CORE
    say "Building the core; the first time takes some minutes"
  else
    say "Building the complete programs, with all products; the first time takes" \
      "some minutes"
  fi
  # Stamps the source revision, which results then contain.
  bazel_do build --stamp "${programs[@]}"
  say "Installing distbench and test_builder in $folder"
  local as_owner
  as_owner=$(owner_command "$folder")
  $as_owner install -D -m 755 "$distbench" "$folder/distbench"
  $as_owner install -D -m 755 "$test_builder" "$folder/test_builder"
  case :$PATH: in
    *:"$folder":*) say "Done; try: distbench help" ;;
    *)
      say "Done, but $folder is not on your PATH:" \
        "export PATH=\"$folder:\$PATH\""
      ;;
  esac
}

main "$@"
