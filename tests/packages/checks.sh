# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# For the scripts that run in the fresh system. Source this file after `set -euo
# pipefail`.

# Time limit of a wait for a condition, in seconds. Long, because the machine may
# be an emulated one.
readonly DEADLINE_SECONDS=120

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  if ! "$@"; then
    echo "FAILED: $what ($*)"
    exit 1
  fi
  echo "ok: $what"
}

# fails COMMAND...
fails() { ! "$@"; }

# says TEXT COMMAND...: the command succeeds, and its output contains the text.
says() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || return
  printf '%s\n' "$output" | sed 's/^/    /'
  [[ $output == *"$text"* ]]
}

# within_deadline COMMAND...: repeats the command until it succeeds.
within_deadline() {
  local deadline=$((SECONDS + DEADLINE_SECONDS))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

quietly() { "$@" >/dev/null; }
