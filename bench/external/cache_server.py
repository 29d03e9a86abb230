# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Serves grpc_service's cache until it is terminated.

  python3 -m bench.external.cache_server FOLDER

The folder is for files of the server's. It prints its address when it is ready.
"""

import os
import signal
import sys

REPOSITORY = os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..")
)
sys.path.append(f"{REPOSITORY}/distbench/products/external")
import grpc_service  # noqa: E402  pylint: disable=wrong-import-position


# Each stream has one of its own.
THREADS = 64


def main():
    server = grpc_service.CacheServer(sys.argv[1], threads=THREADS)
    print(f"Listening at {server.address}", flush=True)
    signal.sigwait({signal.SIGTERM})
    server.stop()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
