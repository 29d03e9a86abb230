#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Prints the source revision, with which Bazel stamps programs under --stamp.

set -euo pipefail

revision=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
if [[ -n $(git status --porcelain --untracked-files=no 2>/dev/null) ]]; then
  revision+=+
fi
echo "STABLE_GIT_REVISION $revision"
