# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Runs tests with controls, and ends some of them in every way there is. Writes
# for each test: NAME.samples, what the kernel said of its groups meanwhile, in
# lines "SECONDS GROUP FILE[:KEY] VALUE"; and for each way to end: WAY.held and
# WAY.after, what held before it, and what was left.

. /guest_lib.sh
. /controls_settings.sh
. /controls_lib.sh

# sample GROUP...: appends lines about groups.
sample() {
  local now=$(date +%s)
  local group
  local name
  local file
  local value
  for group in "$@"; do
    [ -d "$group" ] || continue
    name=${group##*/}
    for file in memory.current memory.swap.current; do
      value=$(cat "$group/$file") && echo "$now $name $file $value"
    done
    sed -n "s/^usage_usec /$now $name cpu.stat:usage_usec /p" \
      "$group/cpu.stat"
    [ -e "$group/io.stat" ] &&
      sed -n "s/^$number rbytes=\([0-9]*\) .*/$now $name io.stat:rbytes \1/p" \
        "$group/io.stat"
    for process in $(cat "$group/cgroup.procs"); do
      sed -n "s/^Cpus_allowed_list:[[:space:]]*/$now $name cpus /p" \
        "/proc/$process/status"
    done
  done 2>/dev/null
}

# measure CONFIG: runs it, and samples its groups of instances.
measure() {
  echo "guest: $1"
  run "$1" &
  local runner=$!
  while kill -0 $runner 2>/dev/null; do
    sample $DELEGATED/distbench.*/*-*.* >>"/out/$1.samples"
    usleep 500000
  done
  wait $runner
  until_true $RESTORE_SECONDS is_as_before
  state >"/out/$1.after"
}

# ended WAY: notes how long it took until everything was as before, and what is
# left.
ended() {
  local start=$(date +%s)
  until_true $RESTORE_SECONDS is_as_before
  echo "seconds $(($(date +%s) - start))" >"/out/$1.time"
  state >"/out/$1.after"
  cp /out/node0.log "/out/$1.node.log"
  cp /out/held_long.txt "/out/$1.txt"
}

# begin WAY: starts a cluster whose test is in the middle, under control.
begin() {
  echo "guest: $1"
  start_cluster
  hold
  state >"/out/$1.held"
}

# pidof_command WORD: the process of distbench with this subcommand.
pidof_command() {
  local process
  for process in $(pidof distbench); do
    tr '\0' ' ' <"/proc/$process/cmdline" | grep -q "^[^ ]* $1 " &&
      echo "$process"
  done
}

guardian() {
  pidof_command control_guardian
}

end_by_cancelling() {
  begin cancelled
  # The shell of run() waits for it.
  kill -INT "$(pidof_command 'run_tests')"
  wait $runner
  ended cancelled
  stop_cluster
}

# end_by_signal WAY SIGNAL: to the node manager.
end_by_signal() {
  begin "$1"
  kill "-$2" "$node"
  ended "$1"
  stop_cluster
  wait $runner
}

end_without_guardian() {
  begin guardian_killed
  kill -KILL $(guardian)
  kill -INT "$(pidof_command 'run_tests')"
  wait $runner
  ended guardian_killed
  stop_cluster
}

# Nobody is left to restore; the next node manager does it.
end_without_both() {
  begin both_killed
  kill -KILL $(guardian)
  kill -KILL "$node"
  sleep 3
  state >/out/both_killed.left
  renew_delegated
  start_node
  ended both_killed
  stop_cluster
  wait $runner
}

prepare_host
# A limit that the groups below have to share.
echo 200000000 >$DELEGATED/memory.max
echo "$NEIGHBOUR_WEIGHT" >$NEIGHBOUR/cpu.weight
# Both files have a line of the drive from now on.
echo "$number enable=0" >$ROOT_GROUP/io.cost.qos
# The groups' own controllers are those that are passed on during a test.
state >/out/state.before

start_cluster
for test in $MEASURED_TESTS; do
  measure "$test"
done
stop_cluster

end_by_cancelling
end_by_signal terminated TERM
end_by_signal manager_killed KILL
end_without_guardian
end_without_both

# The machine is switched off in the middle of a test, without a sync.
begin switched_off
