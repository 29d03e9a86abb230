#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# A collective: four ranks all-reduce a megabyte around a ring.
# Requires 4 nodes: ./start_distbench_localhost.sh -n 4
#
#   workloads/collective.sh [HOST:PORT [DIRECTORY]]

exec "$(dirname "$(readlink -f "$0")")/run_workload.sh" collective "$@"
