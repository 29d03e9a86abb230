#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Builds distbench and installs distbench and test_builder on the PATH.
#
#   ./scripts/install.sh [--core] [--prefix=PREFIX | --bindir=FOLDER]
#
# Installs what a build needs, too. --core leaves out the products, such as the load
# search, the simulation and the dashboard (docs/architecture.md, "Two storeys").
# The commands are installed in FOLDER, by default PREFIX/bin. PREFIX defaults to
# $PREFIX, then to /usr/local. Uses sudo for this last step if the folder requires it.

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
    die "$existing is not writable; choose another folder with --prefix=PREFIX"
  echo sudo
}

# folder_of PREFIX: prints its folder for programs. It was that folder itself once, so
# "/usr/local/bin" is more likely to be old than to mean /usr/local/bin/bin.
folder_of() {
  local prefix=${1%/}
  [[ ${prefix##*/} != bin ]] ||
    die "PREFIX is what bin/ is in: give --prefix=$(dirname "$prefix"), or --bindir=$1"
  echo "$prefix/bin"
}

main() {
  local prefix=${PREFIX:-/usr/local} folder= core=
  while (($# > 0)); do
    case $1 in
      --core) core=yes ;;
      --prefix=?* | --bindir=?*)
        set -- "${1%%=*}" "${1#*=}" "${@:2}"
        continue
        ;;
      --prefix | --bindir)
        [[ -n ${2-} ]] || die "$1 needs a folder"
        # Shells leave the ~ of "--prefix=~/.local" alone.
        local value=${2/#'~/'/"$HOME/"}
        if [[ $1 == --prefix ]]; then prefix=$value; else folder=$value; fi
        shift
        ;;
      --prefix= | --bindir=) die "${1%=} needs a folder" ;;
      -h | --help)
        usage
        return
        ;;
      *) die "unknown argument '$1'; see $0 --help" ;;
    esac
    shift
  done
  [[ -n $folder ]] || folder=$(folder_of "$prefix")

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
