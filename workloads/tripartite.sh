#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A client that queries an index, then three data servers.
# Requires 5 nodes: ./start_distbench_localhost.sh -n 5
#
#   workloads/tripartite.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" tripartite "$@"
