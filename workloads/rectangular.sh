#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Six nodes on a grid, each of which queries its neighbour.
# Requires 6 nodes: ./start_distbench_localhost.sh -n 6
#
#   workloads/rectangular.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" rectangular "$@"
