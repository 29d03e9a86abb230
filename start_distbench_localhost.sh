#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Runs a cluster on this machine only: a sequencer and some node managers, each
# in its own process, reachable only through loopback. SIGINT (Ctrl-C) or
# SIGTERM stops all of them.
#
#   ./start_distbench_localhost.sh [-n NODES | --numa] [-p PORT] [-h]
#                                  [-- FLAG...]
#
#   -n NODES  number of node managers; default: 2
#   --numa    one node manager for each NUMA node that has CPUs, bound to its
#             CPUs and memory
#   -p PORT   port of the sequencer; 0 picks a free port and prints it;
#             default: 10000
#
# Flags after "--" are passed to all processes: --tls_ca=FILE, --tls_cert=FILE
# and --tls_key=FILE, whose certificate must be for 127.0.0.1; and
# --allow_target=HOST:PORT[@RATE], an external service that tests may call.
#
# The binary is $DISTBENCH if that is set, otherwise the one in this checkout: the
# complete program, or the core if only that is built. It is built if necessary.

set -euo pipefail

# A shell that starts this in the background may make it ignore SIGINT, and bash
# cannot trap a signal that it inherited as ignored.
readonly SIGINT_BIT=1
ignored_signals=$(awk '/^SigIgn:/ { print $2 }' /proc/$$/status)
if (((16#$ignored_signals >> SIGINT_BIT) & 1)); then
  exec env --default-signal=INT "$0" "$@"
fi

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/lib.sh"

readonly START_SECONDS=30
readonly STOP_SECONDS=15
readonly NUMA_FOLDER=/sys/devices/system/node

nodes=
numa=
port=10000
declare -A flags_of=() # flags of the node managers, by number
binary=${DISTBENCH:-$DISTBENCH_PROGRAM}
output= # Folder with the output of each process in a file.
pids=() # The sequencer first, then the nodes.
declare -A name_of=() # names by process id
tls_flags=()
target_flags=() # what tests may call; not for programs that only ask

parse_arguments() {
  local option
  while getopts ':n:p:h-:' option; do
    case $option in
      n) nodes=$OPTARG ;;
      -)
        [[ $OPTARG == numa ]] || die "unknown option --$OPTARG; see $0 -h"
        numa=1
        ;;
      p) port=$OPTARG ;;
      h)
        usage
        exit 0
        ;;
      :) die "-$OPTARG needs a value; see $0 -h" ;;
      *) die "unknown option -$OPTARG; see $0 -h" ;;
    esac
  done
  shift $((OPTIND - 1))
  local argument
  for argument in "$@"; do
    case $argument in
      --tls_*=*) tls_flags+=("$argument") ;;
      --allow_target=*) target_flags+=("$argument") ;;
      *) die "unknown argument '$argument'; see $0 -h" ;;
    esac
  done
  [[ -z $nodes || -z $numa ]] ||
    die "--numa determines the number of nodes; leave out -n"
  nodes=${nodes:-2}
  [[ $nodes =~ ^[1-9][0-9]{0,3}$ ]] ||
    die "-n $nodes: not a number of nodes; it must be 1 to 9999"
  if [[ ! $port =~ ^[0-9]{1,5}$ ]] || ((10#$port > 65535)); then
    die "-p $port: not a port; it must be 0 to 65535, where 0 picks a free one"
  fi
}

# numbers_of LIST: prints each number of a list such as 0-3,8.
numbers_of() {
  local range
  for range in ${1//,/ }; do
    seq "${range%-*}" "${range#*-}"
  done
}

# choose_numa_nodes: sets up one node manager, with flags, for each NUMA node.
choose_numa_nodes() {
  [[ -r $NUMA_FOLDER/has_cpu ]] ||
    die "--numa: the kernel reports no NUMA nodes; use -n"
  local id with_memory
  with_memory=$(numbers_of "$(<"$NUMA_FOLDER/has_memory")")
  nodes=0
  for id in $(numbers_of "$(<"$NUMA_FOLDER/has_cpu")"); do
    flags_of[$nodes]="--numa_node=$id"
    grep -qx "$id" <<<"$with_memory" || flags_of[$nodes]+=" --mem_policy=local"
    nodes=$((nodes + 1))
  done
}

build_if_missing() {
  if [[ -z ${DISTBENCH-} && ! -x $binary && -x $DISTBENCH_CORE ]]; then
    binary=$DISTBENCH_CORE
  fi
  if [[ -x $binary ]]; then
    return
  fi
  [[ -z ${DISTBENCH-} ]] || die "DISTBENCH=$DISTBENCH is not a program"
  say "distbench is not built yet; building it"
  "$REPOSITORY/scripts/install_deps.sh" --to-build
  bazel_do build "${PROGRAMS[@]}"
}

# start_process NAME ARGUMENT...: runs distbench in its own session, so that
# Ctrl-C reaches only this script, which passes it on.
start_process() {
  local name=$1
  shift
  : >"$output/$name"
  setsid "$binary" "$@" >>"$output/$name" </dev/null &
  pids+=("$!")
  name_of[$!]=$name
}

# stop_all: stops the nodes first, because they would otherwise miss the
# sequencer. Another signal kills all processes at once.
stop_all() {
  trap 'kill -KILL "${pids[@]}" 2>/dev/null || true' INT TERM
  stop_processes "${pids[@]:1}"
  stop_processes "${pids[@]:0:1}"
  wait
  rm -rf "$output"
}

# stop_processes PID...: tells them to end, waits, and kills those that remain.
stop_processes() {
  local pid deadline=$((SECONDS + STOP_SECONDS))
  for pid in "$@"; do
    kill -TERM "$pid" 2>/dev/null || true
  done
  for pid in "$@"; do
    while kill -0 "$pid" 2>/dev/null && ((SECONDS < deadline)); do
      sleep 0.05
    done
    if kill -KILL "$pid" 2>/dev/null; then
      printf '%s (process %d) did not stop within %d s and was killed\n' \
        "${name_of[$pid]}" "$pid" "$STOP_SECONDS" >&2
    fi
  done
}

# die_if_any_ended: names the first process that has ended.
die_if_any_ended() {
  local pid status
  for pid in "${pids[@]}"; do
    if ! kill -0 "$pid" 2>/dev/null; then
      status=0
      wait "$pid" || status=$?
      ((status == 1)) || status=3
      die "${name_of[$pid]} (process $pid) ended; stopping the others" "$status"
    fi
  done
}

# wait_until WHAT COMMAND...: waits until the command succeeds.
wait_until() {
  local what=$1 deadline=$((SECONDS + START_SECONDS))
  shift
  until "$@"; do
    die_if_any_ended
    ((SECONDS < deadline)) ||
      die "$what did not happen within $START_SECONDS s" 3
    sleep 0.05
  done
}

# The sequencer prints its address once it listens.
read_port() {
  port=$(sed -n 's/^Listening at .*:\([0-9][0-9]*\)$/\1/p' "$output/sequencer")
  [[ -n $port ]]
}

all_nodes_registered() {
  "$binary" status --test_sequencer="127.0.0.1:$port" "${tls_flags[@]}" \
    2>/dev/null | grep -q "^Nodes: $nodes\$"
}

main() {
  parse_arguments "$@"
  ignore_connection_defaults
  [[ -z $numa ]] || choose_numa_nodes
  build_if_missing
  output=$(mktemp -d)
  trap stop_all EXIT
  trap 'say "Stopping the sequencer and its nodes"; exit 0' INT TERM

  start_process sequencer test_sequencer --listen=127.0.0.1 --port="$port" \
    "${tls_flags[@]}" "${target_flags[@]}"
  wait_until "the sequencer's start" read_port
  local i
  for ((i = 0; i < nodes; ++i)); do
    # shellcheck disable=SC2086  # Flags are separate words.
    start_process "node$i" node_manager "node$i" --port=0 \
      --test_sequencer="127.0.0.1:$port" --service_address=127.0.0.1 \
      ${flags_of[$i]-} "${tls_flags[@]}" "${target_flags[@]}"
  done
  wait_until "registration of all $nodes nodes" all_nodes_registered

  say "A sequencer and $nodes nodes are ready at localhost:$port." \
    "To run a test from another terminal:"
  printf '      ./test_builder/test_builder client_server -s %s -o FOLDER\n' \
    "localhost:$port"
  say "Press Ctrl-C to stop them."

  wait -n "${pids[@]}" || true
  die_if_any_ended
}

main "$@"
