#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A client whose queries go to either one or four of five servers.
# Requires 6 nodes: ./start_distbench_localhost.sh -n 6
#
#   workloads/stochastic.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" stochastic "$@"
