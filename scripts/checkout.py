# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The checkout that scripts are about: its files, by paths relative to its root."""

import os
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def full(path):
    return os.path.join(REPOSITORY, path)


def paths():
    """Returns what is under version control, and what is to be; symbolic links and
    submodules, too. Ends the program with an error without git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        reason = (getattr(error, "stderr", None) or "").strip() or error
        sys.exit(f"{' '.join(command)}: {reason}; this needs git and a checkout")
    found = sorted(set(filter(None, listed.stdout.split("\0"))))
    return [path for path in found if os.path.lexists(full(path))]


def read(path):
    # Data may be in any encoding, and line ends are what they are.
    with open(full(path), encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()
