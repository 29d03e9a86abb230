#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A feed with a driver, an aggregator and three leaves.
# Requires 5 nodes: ./start_distbench_localhost.sh -n 5
#
#   workloads/feed_aggregator.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" feed_aggregator "$@"
