#!/usr/bin/env bash
# Installs what is missing, then builds everything and runs every test. The last
# lines name failures, say how many cases were skipped and why, and count the
# test cases: "N passed, N failed". The exit status is 0 if everything built,
# tests ran and none failed.
#
#   ./scripts/test.sh [BAZEL_ARGUMENT...]     for example --config=asan

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

main() {
  "$REPOSITORY/scripts/install_deps.sh"

  local status=0
  events=$(mktemp)
  trap 'rm -f "$events"' EXIT
  say "Building everything and running every test; the first time this takes" \
    "some minutes"
  bazel_do test --keep_going --build_event_json_file="$events" "$@" //... ||
    status=$?
  python3 "$REPOSITORY/scripts/summarize_tests.py" "$events" "$status"
}

main "$@"
