#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Four peers exchange messages with the sizes of workload W3.
# Requires 4 nodes: ./start_distbench_localhost.sh -n 4
#
#   workloads/homa_cp_node.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" homa_cp_node "$@"
