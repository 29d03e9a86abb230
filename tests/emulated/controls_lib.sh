# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# What controls_guest.sh and controls_reboot_guest.sh share: a cluster of one
# node, whose node manager has a group of its own.

readonly DELEGATED=$ROOT_GROUP/service
readonly NEIGHBOUR=$ROOT_GROUP/neighbour
readonly STATE_FOLDER=/data/state
readonly RESTORE_SECONDS=30

make_delegated() {
  mkdir $DELEGATED
  # What groups below are protected from must be granted here, too.
  echo max >$DELEGATED/memory.min
  echo max >$DELEGATED/memory.low
}

# As a service manager does when nothing of a service is left. While the group
# passes controllers on, no process can enter it.
renew_delegated() {
  find $DELEGATED -depth -type d -exec rmdir {} \;
  make_delegated
}

# Groups as a host would have them. The neighbour is one of everything else.
prepare_host() {
  mount_data
  enable_swap
  drive=$(drive_called data)
  number=$(number_of "$drive")
  sed -i "s/DRIVE/$drive/" /*.config
  make_delegated
  mkdir $NEIGHBOUR
  become_in_group $NEIGHBOUR sleep 100000 &
  mkdir -p $STATE_FOLDER
  chmod 700 $STATE_FOLDER
}

start_node() {
  become_in_group $DELEGATED distbench node_manager node0 \
    --test_sequencer=$ADDRESS --service_address=127.0.0.1 \
    --control_state_dir=$STATE_FOLDER \
    >/out/node0.log 2>&1 &
  node=$!
  wait_for node0 ' registered with '
}

start_cluster() {
  start sequencer test_sequencer --listen=127.0.0.1 --port=10000
  sequencer=$!
  wait_for sequencer 'Listening at'
  start_node
}

# Also ends a node manager that is dead already.
stop_cluster() {
  kill $node $sequencer 2>/dev/null
  wait $node $sequencer 2>/dev/null
}

# run CONFIG: writes the result to /out/CONFIG.pb.gz and the output to
# /out/CONFIG.txt.
run() {
  distbench run_tests --test_sequencer=$ADDRESS --infile="/$1.config" \
    --outfile="/out/$1.pb.gz" --binary_output --allow_invalid \
    >"/out/$1.txt" 2>&1
  echo "exit status $?" >>"/out/$1.txt"
}

# Everything that a test may have changed, in lines. The value of io.cost.qos is
# whether the drive's model is on: what else it says follows from that.
state() {
  find $ROOT_GROUP -type d -name 'distbench.*'
  echo "passed on $(cat $DELEGATED/cgroup.subtree_control)"
  echo "neighbour $(cat $NEIGHBOUR/cpu.weight)"
  echo "io.cost.qos $(sed -n "s/^$number .*enable=\([01]\).*/\1/p" \
    $ROOT_GROUP/io.cost.qos)"
  echo "io.cost.model $(grep "^$number " $ROOT_GROUP/io.cost.model)"
  find $STATE_FOLDER -name '*.journal'
}

is_as_before() {
  state >/tmp/state
  cmp -s /tmp/state /out/state.before
}

# Whether the long test's controls hold and its processes work.
is_held() {
  [ "$(cat $NEIGHBOUR/cpu.weight)" = "$HELD_WEIGHT" ] &&
    grep -q . $DELEGATED/distbench.group-0/*/cgroup.procs 2>/dev/null
}

# hold: starts the long test, and waits until its controls hold and its traffic
# has begun.
hold() {
  run held_long &
  runner=$!
  until_true $START_SECONDS is_held
  sleep 3
}
