#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A storage service: a client, and a server that reads and hashes files.
# Requires 2 nodes: ./start_distbench_localhost.sh -n 2
#
#   workloads/storage_service.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" storage_service "$@"
