# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# For the scripts of deploy/ that put what they make in a folder. Source this file after
# scripts/lib.sh.

out=packages # Where what is made belongs; an absolute path after read_arguments.
staging=     # Folder of this run, after make_staging.

# read_arguments ARGUMENT...: -o and --help are the same in all of these scripts; each
# other argument goes to the script's read_argument, which ends in unknown_argument.
read_arguments() {
  while (($# > 0)); do
    case $1 in
      -o)
        [[ -n ${2-} ]] || die "-o needs a folder"
        out=$2
        shift
        ;;
      -h | --help)
        usage
        exit
        ;;
      *) read_argument "$1" ;;
    esac
    shift
  done
  mkdir -p -- "$out"
  out=$(realpath -e -- "$out")
}

unknown_argument() { die "unknown argument '$1'; see $0 --help"; }

make_staging() {
  staging=$(mktemp -d)
  trap remove_staging EXIT
  trap 'exit 130' INT TERM
}

remove_staging() { rm -rf --one-file-system "$staging"; }
