#!/usr/bin/env bash
# What Bazel stamps programs with under --stamp: the revision of the source.

set -euo pipefail

revision=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
if [[ -n $(git status --porcelain --untracked-files=no 2>/dev/null) ]]; then
  revision+=+
fi
echo "STABLE_GIT_REVISION $revision"
