# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Processes of a row, and what is done to them."""

import contextlib
import os
import re
import signal
import subprocess

# Beyond the duration of the traffic, a run may take this many seconds.
GRACE_SECONDS = 60


def wait_for(process, pattern, stream=None):
    """Returns the match in what the process prints."""
    seen = ""
    for line in stream or process.stdout:
        match = re.search(pattern, line)
        if match:
            return match
        seen += line
    raise ValueError(f"{process.args} ended without printing {pattern!r}:\n"
                     f"{seen}")


def finish(process, seconds):
    """Waits for the end of a process, and returns what it printed."""
    out, error = process.communicate(timeout=seconds + GRACE_SECONDS)
    text = (out or "") + (error or "")
    if process.returncode != 0:
        raise ValueError(f"{process.args} failed with status "
                         f"{process.returncode}:\n{text}")
    return out or "", error or ""


def with_children(pid):
    """Returns the process's id and those of its children."""
    pids = [pid]
    for thread in os.listdir(f"/proc/{pid}/task"):
        path = f"/proc/{pid}/task/{thread}/children"
        with open(path, encoding="utf-8") as file:
            pids += map(int, file.read().split())
    return pids


class Stage(contextlib.ExitStack):
    """Where a row takes place: a folder, and processes that end with it.

    The prefixes are put before the command lines of the generator and the
    server; the ids are those of their processes, which may have children.
    """

    def __init__(self, folder, generator_cpu, server_cpu):
        super().__init__()
        self.folder = folder
        self.generator_cpu = generator_cpu
        self.server_cpu = server_cpu
        self.generator_prefix = ["taskset", "-c", str(generator_cpu)]
        self.server_prefix = ["taskset", "-c", str(server_cpu)]
        self.generator_pid = 0
        self.server_pid = 0

    def start(self, command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL):
        # pylint: disable=consider-using-with
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr,
                                   stdin=subprocess.DEVNULL, text=True)
        self.callback(self._stop, process)
        return process

    @staticmethod
    def _stop(process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            process.communicate(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
