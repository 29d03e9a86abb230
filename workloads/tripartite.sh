#!/usr/bin/env bash
# A client that asks an index, then three data servers.
# It needs 5 nodes: ./start_distbench_localhost.sh -n 5
#
#   workloads/tripartite.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" tripartite "$@"
