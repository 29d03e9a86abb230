# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What happens to a server, to a load generator or to their host."""

import contextlib
import os
import signal
import sys
import threading
import time

from bench.gallery import processes

_SPINNER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "spinner.py")


_STEAL = 8  # column of a CPU's line in /proc/stat; its name is column 0


class Unavailable(Exception):
    """This host does not allow the disturbance."""


class Disturbance:
    """Nothing happens."""

    def prepare(self, stage):
        """Called before the processes start."""

    def during(self, stage):
        """Called when there is traffic."""


class Stop(Disturbance):
    """Stops the server, and perhaps the generator, once (SIGSTOP)."""

    def __init__(self, after, seconds, with_generator=False):
        self._after = after
        self._seconds = seconds
        self._with_generator = with_generator

    def during(self, stage):
        time.sleep(self._after)
        pids = processes.with_children(stage.server_pid)
        if self._with_generator:
            pids += processes.with_children(stage.generator_pid)
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(self._seconds)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)


class Sibling(Disturbance):
    """A program of higher priority uses the server's or the generator's CPU."""

    def __init__(self, busy, period, at_generator=False):
        self._busy = busy
        self._period = period
        self._at_generator = at_generator

    def during(self, stage):
        cpu = stage.generator_cpu if self._at_generator else stage.server_cpu
        spinner = stage.start([sys.executable, _SPINNER, str(cpu),
                               str(self._busy), str(self._period)])
        try:
            processes.wait_for(spinner, "spins")
        except ValueError as error:
            raise Unavailable("no permission for SCHED_FIFO") from error


class Quota(Disturbance):
    """The server's control group may use a share of a CPU, and has precedence.

    So only the quota limits it, not what else runs on the machine.
    """

    _PERIOD_US = 100_000
    _V1, _V1_SHARES = "/sys/fs/cgroup/cpu", 262_144
    _V2, _V2_WEIGHT = "/sys/fs/cgroup", 10_000

    def __init__(self, share):
        self._quota_us = round(share * self._PERIOD_US)

    def prepare(self, stage):
        is_v1 = os.path.isdir(self._V1)
        group = os.path.join(self._V1 if is_v1 else self._V2,
                             f"fooled_{os.getpid()}")
        try:
            os.mkdir(group)
            stage.callback(self._remove, group)
            if is_v1:
                self._write(group, "cpu.cfs_period_us", self._PERIOD_US)
                self._write(group, "cpu.cfs_quota_us", self._quota_us)
                self._write(group, "cpu.shares", self._V1_SHARES)
            else:
                self._write(group, "cpu.max",
                            f"{self._quota_us} {self._PERIOD_US}")
                self._write(group, "cpu.weight", self._V2_WEIGHT)
        except OSError as error:
            raise Unavailable(f"no control group for CPU: {error}") from error
        stage.server_prefix += [
            "sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group]

    @staticmethod
    def _write(group, name, value):
        with open(f"{group}/{name}", "w", encoding="utf-8") as file:
            file.write(str(value))

    @staticmethod
    def _remove(group):
        """Removes the group once the last process of it has ended."""
        deadline = time.monotonic() + processes.GRACE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                os.rmdir(group)
                return
            time.sleep(0.01)


class StolenTime(Disturbance):
    """Generator and server see a /proc/stat in which a hypervisor takes time.

    Only the file says so: they have mount namespaces of their own.
    """

    _INTERVAL_SECONDS = 0.1

    def __init__(self, share):
        self._share = share
        self._ended = threading.Event()

    def prepare(self, stage):
        if os.geteuid() != 0:
            raise Unavailable("only root may mount a false /proc/stat")
        path = os.path.join(stage.folder, "stat")
        start = time.monotonic()
        self._ended.clear()
        self._write(path, 0)
        updates = threading.Thread(target=self._update, args=(path, start))
        updates.start()
        stage.callback(updates.join)
        stage.callback(self._ended.set)
        prefix = ["unshare", "--mount", "sh", "-c",
                  'mount --bind "$0" /proc/stat && exec "$@"', path]
        stage.generator_prefix += prefix
        stage.server_prefix += prefix

    def _update(self, path, start):
        while not self._ended.wait(self._INTERVAL_SECONDS):
            self._write(path, time.monotonic() - start)

    def _write(self, path, seconds):
        with open("/proc/stat", encoding="utf-8") as file:
            text = with_steal(file.read(), self._share * seconds)
        # One write to the same file, because it is mounted.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, text.encode(), 0)
        os.close(fd)


def with_steal(stat, seconds_per_cpu):
    """Adds stolen time to a /proc/stat."""
    ticks = round(seconds_per_cpu * os.sysconf("SC_CLK_TCK"))
    lines = stat.splitlines(keepends=True)
    count = sum(line.startswith("cpu") for line in lines) - 1
    for number, line in enumerate(lines):
        if not line.startswith("cpu"):
            continue
        words = line.split()
        more = ticks * (count if number == 0 else 1)
        words[_STEAL] = str(int(words[_STEAL]) + more)
        lines[number] = " ".join(words) + "\n"
    return "".join(lines)


class ClockStep(Disturbance):
    """The wall clock of generator and server jumps. Monotonic time goes on."""

    def __init__(self, after, seconds, library):
        self._after = after
        self._seconds = seconds
        self._library = library

    def prepare(self, stage):
        if not os.path.exists(self._library):
            raise Unavailable(f"{self._library} is not built")
        from_ns = time.time_ns() + round(1e9 * self._after)
        prefix = ["env", f"LD_PRELOAD={self._library}",
                  f"SHIFT_CLOCK_NS={round(1e9 * self._seconds)}",
                  f"SHIFT_CLOCK_FROM_NS={from_ns}"]
        stage.generator_prefix += prefix
        stage.server_prefix += prefix
