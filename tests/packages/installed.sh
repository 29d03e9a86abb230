#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# In a fresh system: installs the packages beside this file and uses them.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=tests/packages/checks.sh
source ./checks.sh
export DEBIAN_FRONTEND=noninteractive

readonly AS_SERVICE_USER=(
  setpriv --reuid=_distbench --regid=_distbench --clear-groups --reset-env
)

install_quietly() {
  apt-get install -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@" \
    >/tmp/apt.log 2>&1 || {
    cat /tmp/apt.log
    return 1
  }
}

# completions WORD: what Tab would offer after "distbench WORD".
completions() {
  # shellcheck source=/dev/null
  source /usr/share/bash-completion/bash_completion
  _completion_loader distbench || true # 124: try again, as bash would
  local loaded
  loaded=$(complete -p distbench | sed 's/.*-F \([^ ]*\).*/\1/')
  COMP_WORDS=(distbench "$1") COMP_CWORD=1
  COMP_LINE="distbench $1" COMP_POINT=$((10 + ${#1}))
  "$loaded" distbench "$1" distbench
  printf '%s\n' "${COMPREPLY[@]}"
}

# With a NUL after each.
package_files() {
  local path
  dpkg -L distbench | while IFS= read -r path; do
    [[ ! -f $path ]] || printf '%s\0' "$path"
  done
}

version=$(dpkg-deb -f distbench_*.deb Version)
program_version=${version%-*}

check "the package lists are there" quietly apt-get update
check "the package can be installed" install_quietly ./distbench_*.deb
du -ch --apparent-size --files0-from=<(package_files) | tail -n 1 |
  sed 's/^/    files of the package: /'

check "distbench has the version" says "distbench $program_version" \
  distbench --version
check "test_builder has the version" says "distbench $program_version" \
  test_builder --version
check "libfabric, which is loaded by name, is suggested" says libfabric1 \
  dpkg-query -f '${Suggests}' -W distbench
check "there is a user for the services" quietly id _distbench
for service in sequencer node; do
  check "distbench-$service is off" fails \
    test -e "/etc/systemd/system/multi-user.target.wants/distbench-$service.service"
  check "distbench-$service can be configured" \
    test -s "/etc/default/distbench-$service"
done
for file in /usr/share/man/man1/{distbench,test_builder}.1.gz \
  /usr/share/{bash-completion/completions/,zsh/vendor-completions/_}distbench \
  /usr/share/fish/vendor_completions.d/distbench.fish \
  /usr/share/distbench/workloads/jobs.yaml \
  /usr/share/doc/distbench/{copyright,changelog.gz,NOTICE,README.md,docs/packages.md} \
  /usr/share/doc/distbench/docs/{{report,traffic_config}.schema.json,products/search.md} \
  /usr/share/doc/distbench/examples/{dashboard.json,alerts.yml,prometheus.yml} \
  /usr/share/doc/distbench/examples/distbench{,_array,_het}.sbatch; do
  check "there is $file" test -s "$file"
done

# ---- A test, as a user without rights ---------------------------------------

folder=$(mktemp -d)
chmod 777 "$folder"
"${AS_SERVICE_USER[@]}" distbench test_sequencer --listen=127.0.0.1 --port=0 \
  --local_nodes=2 >"$folder/sequencer.log" 2>&1 &
sequencer=$!
trap 'kill "$sequencer" 2>/dev/null' EXIT
check "a sequencer starts" \
  within_deadline grep -q '^Listening at' "$folder/sequencer.log"
address=$(sed -n 's/^Listening at //p' "$folder/sequencer.log")
check "a pattern runs" quietly "${AS_SERVICE_USER[@]}" \
  test_builder client_server -s "$address" -o "$folder/results" -t 1s
result=$(echo "$folder"/results/*.pb.gz)
check "its result has a page" quietly "${AS_SERVICE_USER[@]}" \
  distbench report "$result" --format=html -o "$folder/report.html"
check "a packaged workload is valid" quietly \
  distbench check_test --infile=/usr/share/distbench/workloads/clique.config
kill "$sequencer"
check "the sequencer ends in order" wait "$sequencer"
trap - EXIT

# ---- Python -----------------------------------------------------------------

check "the Python package can be installed" \
  install_quietly ./python3-distbench_*.deb
check "it can be imported" says "$program_version" python3 -c \
  'import importlib.metadata, distbench
print(distbench.__name__, importlib.metadata.version("distbench"))'
check "it reads a result" says "Results(1 runs" python3 -c \
  'import sys, distbench
print(distbench.read_results(sys.argv[1]))' "$result"

# ---- What needs other packages ----------------------------------------------

check "man, completion and systemd can be installed" \
  install_quietly bash-completion man-db systemd systemd-sysv
check "the manual says something" says "distbench" \
  bash -c 'man distbench | head -n 12'
check "Tab completes subcommands" says "run_tests" completions run_
check "the units are valid" systemd-analyze verify \
  /usr/lib/systemd/system/distbench-{node,sequencer}.service
# The score of systemd-analyze, from 0 (locked up) to 100, and what may be left.
for limit in node:30 sequencer:20; do
  service=distbench-${limit%:*}
  check "$service is hardened" quietly systemd-analyze security --offline=yes \
    --threshold="${limit#*:}" "/usr/lib/systemd/system/$service.service"
  systemd-analyze security --offline=yes --threshold=100 --no-pager \
    "/usr/lib/systemd/system/$service.service" | tail -n 1 | sed 's/^/    /'
done
