# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Runs in the emulated machine. Leaves its findings in /out, for two_nodes.py to
# judge.

readonly ADDRESS=127.0.0.1:10000
readonly START_SECONDS=120

# start NAME ARGUMENT...: starts distbench in the background; $! is its process.
start() {
  local name=$1
  shift
  distbench "$@" >"/out/$name.log" 2>&1 &
}

wait_for() {
  local i=0
  until grep -q "$2" "/out/$1.log"; do
    i=$((i + 1))
    [ $i -lt $((10 * START_SECONDS)) ] || return 1
    usleep 100000
  done
}

# cluster [FLAGS OF NODE0 [FLAGS OF NODE1]]: starts a fresh cluster.
cluster() {
  start sequencer test_sequencer --listen=127.0.0.1 --port=10000 \
    --node_timeout=60s
  pids=$!
  wait_for sequencer 'Listening at'
  local name
  for name in node0 node1; do
    # Flags are separate words.
    start $name node_manager $name --test_sequencer=$ADDRESS \
      --service_address=127.0.0.1 $1
    pids="$! $pids"
    eval "${name}_pid=$!"
    shift
  done
  wait_for node0 ' registered with '
  wait_for node1 ' registered with '
}

stop_cluster() {
  kill $pids
  wait $pids
}

# run CONFIG: writes the result to /out/CONFIG.pb.gz and the output to
# /out/CONFIG.txt.
run() {
  distbench run_tests --test_sequencer=$ADDRESS --infile=/$1.config \
    --outfile=/out/$1.pb.gz --binary_output --allow_invalid >/out/$1.txt 2>&1
  echo "exit status $?" >>/out/$1.txt
}

# children_of PID: the engines of a node manager.
children_of() {
  grep -l "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status 2>/dev/null |
    cut -d/ -f3
}

# refused NAME ARGUMENT...: tries to start a node manager, which must fail.
refused() {
  local name=$1
  shift
  "$@" >"/out/$name.txt" 2>&1
  echo "exit status $?" >>"/out/$name.txt"
}

echo "guest: bound by flags"
cluster --numa_node=0 --numa_node=1
distbench status --test_sequencer=$ADDRESS >/out/status.txt 2>&1
run placed
echo "guest: moved away while it runs"
run moved &
runner=$!
usleep 4000000
for process in $(children_of $node1_pid); do
  for task in /proc/$process/task/*; do
    taskset -p 3 "${task##*/}" >>/out/taskset.txt 2>&1
  done
done
wait $runner
stop_cluster

echo "guest: far memory"
cluster --numa_node=0 '--numa_node=1 --mem_nodes=0'
run far
stop_cluster

echo "guest: unbound, and bound by the config"
cluster
run unbound
run spread
run impossible
run best_effort
stop_cluster

echo "guest: refusals"
refused no_such_node distbench node_manager --numa_node=7 \
  --test_sequencer=$ADDRESS
refused forbidden taskset 3 distbench node_manager --numa_node=1 \
  --test_sequencer=$ADDRESS

if [ -e /compare ]; then
  echo "guest: comparison"
  distbench numa_compare --infile=/compared.config --generator_cpus=1,3 \
    --slo='query p90<=200ms' --repeat=2 --seed=1 --warmup=500ms --probe=1s \
    --final=2s --max_probes=8 --tolerance=20 --allow_invalid \
    --outfile=/out/compared.pb.gz --binary_output \
    >/out/compared.txt 2>/out/compared.log
  echo "exit status $?" >>/out/compared.txt
fi
