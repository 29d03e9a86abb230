# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A control group (version 1) that limits the memory of a node."""

import contextlib
import os
import tempfile
import time

from tests import programs
from tests.faults import cluster as clusters

FOLDER = "/sys/fs/cgroup/memory"
LIMIT_BYTES = 1 << 30


class MemoryGroup:
    """An existing group, found at `path`."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="distbench_faults_", dir=FOLDER)
        self._write("memory.limit_in_bytes", LIMIT_BYTES)

    def take(self, node):
        """Puts a node manager and its engines into the group."""
        for pid in (node.pid, *programs.engines_of(node)):
            self._write("cgroup.procs", pid)

    def remove(self):
        """Waits for the end of the group's processes, and removes it."""
        end = time.monotonic() + clusters.RECOVERY_SECONDS
        while True:
            try:
                return os.rmdir(self.path)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def _write(self, name, value):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(value))


@contextlib.contextmanager
def give(cluster):
    """Gives the cluster a group, which its victim may be put into."""
    cluster.memory_group = MemoryGroup()
    try:
        yield
    finally:
        cluster.memory_group.remove()
