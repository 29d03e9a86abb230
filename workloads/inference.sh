#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# An inference service: a client, and a server that fetches features and runs a
# model.
# Requires 2 nodes: ./start_distbench_localhost.sh -n 2
#
#   workloads/inference.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" inference "$@"
