#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Installs what is missing, holds the source against the rules of the house, then
# builds everything and runs every test. The last lines name failures, say how many
# cases were skipped and why, and count the test cases: "N passed, N failed"; a rule
# that is broken counts as a failure. The exit status is 0 if everything built, tests
# ran and none failed.
#
#   ./scripts/test.sh [BAZEL_ARGUMENT...]     for example --config=asan

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Seconds each; nothing is built.
readonly CHECKS=(check_house check_one_definition check_includes check_licences
  check_docs)

main() {
  "$REPOSITORY/scripts/install_deps.sh"

  local check status=0 failed_checks=()
  for check in "${CHECKS[@]}"; do
    say "Checking the source: scripts/$check"
    "$REPOSITORY/scripts/$check" || failed_checks+=("scripts/$check")
  done
  events=$(mktemp)
  trap 'rm -f "$events"' EXIT
  say "Building everything and running all tests; the first time takes" \
    "some minutes"
  bazel_do test --keep_going --build_event_json_file="$events" "$@" //... ||
    status=$?
  python3 "$REPOSITORY/scripts/summarize_tests.py" "$events" "$status" \
    "${failed_checks[@]}"
}

main "$@"
