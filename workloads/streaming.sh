#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Streams: a client asks, and a server answers each request by many messages.
# Requires 2 nodes: ./start_distbench_localhost.sh -n 2
#
#   workloads/streaming.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" streaming "$@"
