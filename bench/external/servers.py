# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Servers of others: example.Cache in two languages."""

import os
import subprocess
import sys

_REPOSITORY = os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
_GO_SERVER = os.path.join(_REPOSITORY, "bench", "external", "go_server")


def python_command(folder):
    """Returns the command line of Python's server, whose files are in the
    folder. It is a module below the repository, from where it is started."""
    return [sys.executable, "-m", "bench.external.cache_server", folder]


def go_command(go, folder):
    """Builds the server in Go, with the modules that its go.sum names, and
    returns its command line."""
    sys.path.append(f"{_REPOSITORY}/distbench/products/external")
    import grpc_service  # pylint: disable=import-outside-toplevel
    program = os.path.join(folder, "go_server")
    subprocess.run([go, "build", "-o", program, "."], cwd=_GO_SERVER,
                   check=True)
    return [program, "--descriptors=" + grpc_service.write_descriptors(folder)]
