#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# In the booted system of installed.sh: uses the services.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=tests/packages/checks.sh
source ./checks.sh

readonly SEQUENCER=localhost:10000
readonly GROUPS_OF_NODE=/sys/fs/cgroup/system.slice/distbench-node.service

show_journal() {
  local status=$?
  if ((status != 0)); then
    journalctl --no-pager --output=cat -u distbench-sequencer -u distbench-node |
      tail -n 40
  fi
}
trap show_journal EXIT

# distbench_at COMMAND FLAGS...
distbench_at() { distbench "$1" --test_sequencer="$SEQUENCER" "${@:2}"; }

has_node() { distbench_at status | grep -q '^Nodes: 1$'; }
main_process() { systemctl show --property=MainPID --value "$1"; }
user_of() { stat --format=%U "/proc/$(main_process "$1")"; }
has_groups() { [[ -d $GROUPS_OF_NODE/distbench.manager ]]; }

run_controls() {
  distbench_at run_tests --infile=controls.config --outfile=/tmp/result.pb.gz \
    --binary_output --allow_invalid
}

check "systemctl shows the unit" \
  says "ExecStart=/usr/bin/distbench node_manager" systemctl cat distbench-node
check "the services can be enabled" systemctl enable --now --quiet \
  distbench-sequencer distbench-node
check "the node registers" within_deadline has_node
for service in distbench-sequencer distbench-node; do
  check "$service has its user" test "$(user_of "$service")" = _distbench
done

# The controls of the test are strict: a test whose controls do not hold fails.
check "a test with control groups runs" says "Total samples" run_controls
check "its groups are gone" fails has_groups
check "its result is kept" quietly ls /var/lib/distbench/*.result

run_controls >/tmp/killed 2>&1 &
run=$!
check "another test has groups" within_deadline has_groups
systemctl kill --kill-whom=main --signal=KILL distbench-node
check "it fails, as its node is killed" fails wait "$run"
check "the node is started again" within_deadline has_node
check "and runs tests with control groups" says "Total samples" run_controls
check "its groups are gone, too" fails has_groups

check "the services can be stopped" systemctl stop \
  distbench-node distbench-sequencer
for service in distbench-sequencer distbench-node; do
  check "$service has ended in order" \
    says "Result=success" systemctl show --property=Result "$service"
done
echo "All is well."
