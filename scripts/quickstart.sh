#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# From a fresh machine to a measurement, to try distbench before it is installed:
# installs missing packages, builds the core (distbench and test_builder without the
# products, such as the load search), runs a short client_server test on a two-node
# cluster on this machine, prints what matters most, and leaves nothing running.
# scripts/install.sh needs none of this; afterwards it builds the products only.
#
#   ./scripts/quickstart.sh [-h]

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly TEST_SECONDS=5
readonly CLUSTER_START_SECONDS=60
readonly SIZES=client_count=1:server_count=1:parallel_queries=100
readonly PATTERN=client_server:$SIZES

cluster=     # Process id of the start script.
cluster_log= # Output of the start script.
stop_bazel=  # Set if this script started Bazel's server and must stop it.

stop_everything() {
  if [[ -n $cluster ]]; then
    kill -TERM "$cluster" 2>/dev/null || true
    wait "$cluster" || true
  fi
  rm -f "$cluster_log"
  if [[ -n $stop_bazel ]]; then
    (cd "$REPOSITORY" && bazel shutdown)
  fi
}

build() {
  bazel_server_runs || stop_bazel=yes
  say "Building the core of distbench, to try it; the first time takes some" \
    "minutes. scripts/install.sh then builds the rest and installs it"
  bazel_do build "${CORE_PROGRAMS[@]}"
}

# Sets `port` once the cluster reports that it is ready.
read_port() {
  port=$(sed -n 's/.* are ready at localhost:\([0-9]*\)\..*/\1/p' \
    "$cluster_log")
  [[ -n $port ]]
}

# Starts the cluster and sets `port`.
start_cluster() {
  say "Starting a sequencer and two nodes on this machine"
  cluster_log=$(mktemp)
  DISTBENCH=$DISTBENCH_CORE "$REPOSITORY/start_distbench_localhost.sh" \
    -n 2 -p 0 >"$cluster_log" &
  cluster=$!
  local deadline=$((SECONDS + CLUSTER_START_SECONDS))
  until read_port; do
    kill -0 "$cluster" 2>/dev/null || die "the cluster did not start" 3
    ((SECONDS < deadline)) ||
      die "the cluster was not ready within $CLUSTER_START_SECONDS s" 3
    sleep 0.1
  done
}

main() {
  case ${1-} in
    '') ;;
    -h | --help)
      usage
      return
      ;;
    *) die "unknown argument '$1'; see $0 --help" ;;
  esac
  ignore_connection_defaults
  "$REPOSITORY/scripts/install_deps.sh" --to-build
  trap stop_everything EXIT
  trap 'exit 130' INT TERM
  build
  start_cluster

  local results
  results=$(mktemp -d "${TMPDIR:-/tmp}/distbench_quickstart.XXXXXX")
  say "Running $PATTERN for $TEST_SECONDS s"
  # Its own summary is for programs, unless this is a terminal.
  local status=0
  "$TEST_BUILDER_CORE" "$PATTERN" -s "127.0.0.1:$port" -o "$results" \
    -t "$TEST_SECONDS" >/dev/null || status=$?
  "$DISTBENCH_CORE" report --format=terminal "$results" ||
    exit "$((status ? status : 1))"

  say "Done. The complete result and the config that produced it" \
    "are in $results"
  say "scripts/install.sh installs the complete programs, for which it builds the" \
    "products: search, simulate, the dashboard and more. With --core it installs" \
    "what is built now."
  exit "$status"
}

main "$@"
