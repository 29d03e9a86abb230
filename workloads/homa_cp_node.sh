#!/usr/bin/env bash
# Four peers that exchange messages of the sizes of workload W3.
# It needs 4 nodes: ./start_distbench_localhost.sh -n 4
#
#   workloads/homa_cp_node.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" homa_cp_node "$@"
