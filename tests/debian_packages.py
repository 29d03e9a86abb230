# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Debian packages that tests outside of `bazel test` need."""

import os
import subprocess


def install(*packages):
    """Installs packages; needs root."""
    print(f"==> Installing {' '.join(packages)}", flush=True)
    apt_get = ["apt-get", "-qq", "-y", "-o", "Dpkg::Use-Pty=0"]
    for command in (
        [*apt_get, "update"],
        [*apt_get, "install", "--no-install-recommends", *packages],
    ):
        subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            check=True,
        )
