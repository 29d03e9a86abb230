#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# All-to-all bursts among four nodes.
# Requires 4 nodes: ./start_distbench_localhost.sh -n 4
#
#   workloads/clique.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" clique "$@"
