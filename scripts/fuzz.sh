#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Fuzzes all code that reads input from outside: builds the fuzz targets with
# clang, AddressSanitizer and UndefinedBehaviorSanitizer, and runs each for a
# while from its kept corpus. Minimises and keeps inputs that reach new code.
# Exits with 1 if a target crashes; the input is then in fuzz_findings/.
#
# A fuzz target is a program NAME_fuzzer, with its corpus in tests/corpus/NAME.
#
#   ./scripts/fuzz.sh [SECONDS_EACH]      default: 600

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Limits of one input. Slow inputs are findings as well.
readonly SECONDS_PER_INPUT=10
readonly LARGEST_INPUT_BYTES=20000

# Inputs that are kept in a corpus, besides those with names.
readonly MOST_INPUTS=100

# Installs clang with its run-time library for fuzzing and sanitizers.
install_clang() {
  local probe
  probe=$(mktemp -d)
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' \
    >"$probe/probe_history.cc"
  if ! clang++ -fsanitize=fuzzer,address "$probe/probe_history.cc" -o "$probe/probe" 2>/dev/null; then
    say "Installing clang"
    apt_get_as_root install clang libclang-rt-dev ||
      apt_get_as_root install clang libclang-rt-14-dev
  fi
  rm -rf "$probe"
}

# Keeps those inputs, old or new, that reach most code, and all inputs with
# names that people gave them.
keep_best() {
  local binary=$1 corpus=$2 work=$3
  local -r by_libfuzzer='[0-9a-f]{40}'
  mkdir "$work/best" "$work/old"
  find "$corpus" -type f -regextype posix-extended ! -regex ".*/$by_libfuzzer" \
    -exec cp -t "$work/best" {} +
  # Writes the inputs with the most new coverage first.
  "$binary" -set_cover_merge=1 -use_counters=0 "$work/best" "$corpus" \
    "$work/new" >"$work/merge" 2>&1 ||
    die "cannot merge $corpus; see $work/merge" 3
  find "$corpus" -regextype posix-extended -regex ".*/$by_libfuzzer" \
    -exec mv -t "$work/old" {} +
  find "$work/best" -type f -regextype posix-extended \
    -regex ".*/$by_libfuzzer" -printf '%T@ %p\n' | sort -n |
    sed -n "1,${MOST_INPUTS}s/^[^ ]* //p" | xargs --no-run-if-empty cp -t "$corpus" ||
    die "cannot write $corpus; its former content is in $work/old" 3
}

# fuzz_targets: prints the labels of all.
fuzz_targets() {
  (cd "$REPOSITORY" && bazel query \
    'kind(cc_binary, filter("_fuzzer$", //distbench/... + //test_builder/...))')
}

# Collects new inputs in a temporary directory, and copies useful ones to the
# corpus.
run_target() {
  local target=$1 seconds=$2 binary corpus work
  binary=$REPOSITORY/bazel-bin/$(tr ':' '/' <<<"${target#//}")
  corpus=tests/corpus/$(basename "${binary%_fuzzer}")
  work=$(mktemp -d)
  mkdir -p "$work/new" "$REPOSITORY/$corpus" "$REPOSITORY/fuzz_findings"
  say "$target, for $seconds s"
  local status=0
  "$binary" -max_total_time="$seconds" -timeout="$SECONDS_PER_INPUT" \
    -max_len="$LARGEST_INPUT_BYTES" -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$REPOSITORY/fuzz_findings/$(basename "$corpus")-" \
    "$work/new" "$REPOSITORY/$corpus" >"$work/log" 2>&1 || status=$?
  grep -E '^stat::|DONE|ERROR|SUMMARY' "$work/log"
  keep_best "$binary" "$REPOSITORY/$corpus" "$work"
  rm -rf "$work"
  return "$status"
}

main() {
  local seconds=${1:-600} targets target failed=0
  [[ $seconds =~ ^[0-9]+$ ]] || die "'$seconds' is not a number of seconds"
  "$REPOSITORY/scripts/install_deps.sh"
  install_clang
  mapfile -t targets < <(fuzz_targets)
  ((${#targets[@]} > 0)) || die "there is no fuzz target"
  say "Building the fuzz targets with clang"
  bazel_do build --config=fuzz "${targets[@]}"
  for target in "${targets[@]}"; do
    run_target "$target" "$seconds" || failed=1
  done
  return "$failed"
}

main "$@"
