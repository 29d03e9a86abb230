# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# Functions shared by the scripts of this folder. Source this file after `set
# -euo pipefail`.

# The root of the checkout, whatever the current directory is.
REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly REPOSITORY

# Interval between signs of life of a command that runs quietly, in seconds.
readonly HEARTBEAT_SECONDS=10

# The programs that users run, and the same without the products.
# shellcheck disable=SC2034  # Scripts that source this use them.
readonly PROGRAMS=(//distbench/cli:distbench //test_builder:test_builder_main) \
  CORE_PROGRAMS=(//distbench/cli:distbench_core //test_builder:test_builder_core)

# Where Bazel puts these.
# shellcheck disable=SC2034
readonly DISTBENCH_PROGRAM=$REPOSITORY/bazel-bin/distbench/cli/distbench \
  TEST_BUILDER_PROGRAM=$REPOSITORY/bazel-bin/test_builder/test_builder_main \
  DISTBENCH_CORE=$REPOSITORY/bazel-bin/distbench/cli/distbench_core \
  TEST_BUILDER_CORE=$REPOSITORY/bazel-bin/test_builder/test_builder_core

say() { printf '==> %s\n' "$*"; }

# die MESSAGE [STATUS]: the status is 1 for usage errors and missing tools.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit "${2:-1}"
}

# Makes the programs that follow use only the flags that they are given: the
# user's defaults (docs/shell.md) are for another sequencer.
ignore_connection_defaults() {
  export DISTBENCH_TEST_SEQUENCER='' DISTBENCH_TLS_CA='' DISTBENCH_TLS_CERT='' \
    DISTBENCH_TLS_KEY='' DISTBENCH_TLS_NAME=''
}

# usage: prints the calling script's opening comment, which follows the lines of
# copyright and licence.
usage() {
  awk 'NR == 1 || /^# (Copyright|SPDX-License-Identifier:) / { next }
    /^$/ { if (begun) exit; next }
    { begun = 1; sub(/^# ?/, ""); print }' "$0"
}

# run_quietly COMMAND...: shows only the last line of the command's output every
# few seconds, and the end of the output if the command fails.
run_quietly() {
  local log status=0 heartbeat
  log=$(mktemp)
  _show_heartbeat "$log" &
  heartbeat=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$heartbeat"
  wait "$heartbeat" || true
  if ((status != 0)); then
    printf '%s failed with status %d; the end of its output:\n' \
      "$*" "$status" >&2
    tail -n 40 "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}

# Runs as long as the script, because an interrupt may end it at any point.
_show_heartbeat() {
  local log=$1 start=$SECONDS sleeper
  trap 'kill "$sleeper"; exit 0' TERM
  while kill -0 "$$" 2>/dev/null; do
    sleep "$HEARTBEAT_SECONDS" &
    sleeper=$!
    wait "$sleeper"
    printf '    %3d s: %s\n' "$((SECONDS - start))" \
      "$(tail -n 1 "$log" | tr '\r' '\n' | tail -n 1 | cut -c 1-100)"
  done
}

# as_root COMMAND...
as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

# Takes the arguments of apt-get.
apt_get_as_root() {
  run_quietly as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@"
}

# Prints the first Debian mirror that apt uses here.
configured_mirror() {
  # shellcheck disable=SC2016  # apt-get expands these.
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" { print $2; exit }'
}

# bazel_do COMMAND ARGUMENTS...: runs Bazel in the checkout, optimised, with
# progress: Bazel's own display on a terminal, else a line every few seconds.
bazel_do() {
  local command=$1
  shift
  (cd "$REPOSITORY" && bazel "$command" -c opt --show_progress \
    --show_progress_rate_limit="$HEARTBEAT_SECONDS" "$@")
}

# Succeeds if a Bazel server of this checkout is running. grep reads the pattern
# from stdin, so that it does not find itself.
bazel_server_runs() {
  grep -qszFxf /dev/stdin /proc/[0-9]*/cmdline \
    <<<"--workspace_directory=$REPOSITORY"
}

# newest_glibc_of FOLDER: the newest version of glibc that programs and libraries
# below it want, such as 2.36.
newest_glibc_of() {
  find "$1" -type f \( -path '*/bin/*' -o -path '*/lib/*' \) -print0 |
    xargs -0 readelf --version-info --wide | grep -o 'GLIBC_[0-9.]*' |
    sed 's/GLIBC_//' | sort -uV | tail -n 1
}
