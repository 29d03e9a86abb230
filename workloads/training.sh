#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Steps of training: rows and columns of ranks all-reduce in turn.
# Requires 4 nodes: ./start_distbench_localhost.sh -n 4
#
#   workloads/training.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" training "$@"
