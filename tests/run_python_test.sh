#!/usr/bin/env bash
# Runs a Python module from the root of a test's runfiles.
set -euo pipefail
exec env PYTHONDONTWRITEBYTECODE=1 python3 -m "$1"
