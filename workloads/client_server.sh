#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# One client keeps 100 queries in flight to one server.
# Requires 2 nodes: ./start_distbench_localhost.sh -n 2
#
#   workloads/client_server.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" client_server "$@"
