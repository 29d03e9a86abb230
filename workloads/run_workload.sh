#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Runs a ready-made config of this folder and keeps its result.
#
#   workloads/run_workload.sh NAME [HOST:PORT [DIRECTORY]]
#
#   NAME       the config's name, such as clique
#   HOST:PORT  the sequencer's address; default: localhost:10000
#   DIRECTORY  folder for the result, NAME.pb.gz, which is overwritten;
#              default: results
#
# The binary is $DISTBENCH if that is set, otherwise the one in this checkout,
# which is built if necessary.

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../scripts/lib.sh"

main() {
  case " $* " in
    '  ' | *' -h '* | *' --help '*)
      usage
      return
      ;;
  esac
  (($# <= 3)) || die "too many arguments; see $0 --help"
  local name=$1 sequencer=${2:-localhost:10000} directory=${3:-results}
  local config=$REPOSITORY/workloads/$name.config
  local binary=${DISTBENCH:-$REPOSITORY/bazel-bin/distbench/cli/distbench}
  [[ -f $config ]] || die "there is no $config"
  if [[ ! -x $binary ]]; then
    [[ -z ${DISTBENCH-} ]] || die "DISTBENCH=$DISTBENCH is not a program"
    say "distbench is not built yet; building it" >&2
    bazel_do build "${PROGRAMS[@]}" >&2
  fi
  mkdir -p "$directory"
  "$binary" run_tests --test_sequencer="$sequencer" --infile="$config" \
    --outfile="$directory/$name.pb.gz" --binary_output --verbose
}

main "$@"
