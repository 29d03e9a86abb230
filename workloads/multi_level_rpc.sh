#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A load balancer, two roots and three leaves.
# Requires 6 nodes: ./start_distbench_localhost.sh -n 6
#
#   workloads/multi_level_rpc.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" multi_level_rpc "$@"
