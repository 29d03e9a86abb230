#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Runs a Python module, given as a path without ".py", from the root of a test's
# runfiles. It may import what is beside it.
set -euo pipefail
exec env PYTHONDONTWRITEBYTECODE=1 \
  PYTHONPATH="$(dirname "$1")${PYTHONPATH:+:$PYTHONPATH}" \
  python3 -m "$(basename "$1")"
