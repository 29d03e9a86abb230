#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Builds with a sanitizer and runs all tests, or those that are named, with it.
# third_party/sanitizers/ says what is suppressed, and why.
#
#   ./scripts/sanitize.sh asan|ubsan|tsan|asan,ubsan [BAZEL_ARGUMENT...]

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly SUPPRESSIONS=$REPOSITORY/third_party/sanitizers

# For small, medium, large and enormous tests; programs run many times slower.
readonly TIMEOUT_SECONDS=600,1200,2400,3600

main() {
  local sanitizers=${1:-} name
  [[ -n $sanitizers ]] || {
    usage >&2
    exit 1
  }
  shift
  local arguments=()
  for name in ${sanitizers//,/ }; do
    case $name in
      asan | ubsan | tsan) arguments+=("--config=$name") ;;
      *) die "'$name' is not a sanitizer; use asan, ubsan or tsan" ;;
    esac
  done
  [[ " $* " == *" //"* ]] || arguments+=(//...)
  bazel_do test --keep_going --test_timeout="$TIMEOUT_SECONDS" \
    --test_env=LSAN_OPTIONS="suppressions=$SUPPRESSIONS/lsan.supp" \
    --test_env=TSAN_OPTIONS="suppressions=$SUPPRESSIONS/tsan.supp" \
    --test_env=UBSAN_OPTIONS=print_stacktrace=1 \
    --test_env=DISTBENCH_SANITIZED=1 \
    "${arguments[@]}" "$@"
}

main "$@"
