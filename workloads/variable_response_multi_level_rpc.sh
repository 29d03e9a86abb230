#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A load balancer, two roots, and three leaves with responses of random size.
# Requires 6 nodes: ./start_distbench_localhost.sh -n 6
#
#   workloads/variable_response_multi_level_rpc.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" \
  variable_response_multi_level_rpc "$@"
