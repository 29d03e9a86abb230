#!/usr/bin/env bash
# Fuzzes what reads input from outside: builds the fuzz targets with clang and the
# sanitizers of addresses and of undefined behaviour, and runs each for a while
# from its kept corpus. What is new in the corpus is minimised and kept. Ends with
# 1 if a target crashes; the input that did it stays in fuzz_findings/.
#
#   ./scripts/fuzz.sh [SECONDS_EACH]      default: 600

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Bazel target, and its corpus.
readonly TARGETS=(
  "//distbench/config/testing:config_fuzzer tests/corpus/config"
  "//distbench/node/testing:sequencer_talk_fuzzer tests/corpus/sequencer_talk"
  "//distbench/payload:message_fuzzer tests/corpus/message"
  "//distbench/protocol/tcp/testing:frame_fuzzer tests/corpus/frame"
  "//distbench/report/testing:result_fuzzer tests/corpus/result"
  "//distbench/sequencer/testing:node_talk_fuzzer tests/corpus/node_talk"
  "//distbench/sequencer/testing:run_files_fuzzer tests/corpus/run_files"
  "//test_builder:pattern_fuzzer tests/corpus/pattern"
)

# Of one input. Slow ones are findings as well.
readonly SECONDS_PER_INPUT=10
readonly LARGEST_INPUT_BYTES=20000

# That are kept of a corpus, besides those with a name.
readonly MOST_INPUTS=100

# clang and its run-time library for fuzzing and sanitizers.
install_clang() {
  local probe
  probe=$(mktemp -d)
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' \
    >"$probe/probe.cc"
  if ! clang++ -fsanitize=fuzzer,address "$probe/probe.cc" -o "$probe/probe" 2>/dev/null; then
    say "Installing clang"
    apt_get_as_root install clang libclang-rt-dev ||
      apt_get_as_root install clang libclang-rt-14-dev
  fi
  rm -rf "$probe"
}

# Leaves those inputs in the corpus that reach most, of it and of the new ones,
# and all that have a name that somebody gave them.
keep_best() {
  local binary=$1 corpus=$2 work=$3
  local -r by_libfuzzer='[0-9a-f]{40}'
  mkdir "$work/best" "$work/old"
  find "$corpus" -type f -regextype posix-extended ! -regex ".*/$by_libfuzzer" \
    -exec cp -t "$work/best" {} +
  # Writes what adds most to those first.
  "$binary" -set_cover_merge=1 -use_counters=0 "$work/best" "$corpus" \
    "$work/new" >"$work/merge" 2>&1 ||
    die "$corpus could not be merged; see $work/merge" 3
  find "$corpus" -regextype posix-extended -regex ".*/$by_libfuzzer" \
    -exec mv -t "$work/old" {} +
  find "$work/best" -type f -regextype posix-extended \
    -regex ".*/$by_libfuzzer" -printf '%T@ %p\n' | sort -n |
    sed -n "1,${MOST_INPUTS}s/^[^ ]* //p" | xargs --no-run-if-empty cp -t "$corpus" ||
    die "$corpus could not be written; what it was is in $work/old" 3
}

# New inputs go to a directory of their own, and what is worth it to the corpus.
run_target() {
  local target=$1 corpus=$2 seconds=$3 binary work
  binary=$REPOSITORY/bazel-bin/$(tr ':' '/' <<<"${target#//}")
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
  local seconds=${1:-600} entry target corpus failed=0
  [[ $seconds =~ ^[0-9]+$ ]] || die "'$seconds' is no number of seconds"
  "$REPOSITORY/scripts/install_deps.sh"
  install_clang
  say "Building the fuzz targets with clang"
  bazel_do build --config=fuzz "${TARGETS[@]%% *}"
  for entry in "${TARGETS[@]}"; do
    read -r target corpus <<<"$entry"
    run_target "$target" "$corpus" "$seconds" || failed=1
  done
  return "$failed"
}

main "$@"
