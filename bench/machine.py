# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What processes and the machine have used, from /proc."""

import os

_CLOCK_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_NS_PER_SECOND = 1e9
_KIB_PER_MIB = 1024


def process_cpu_seconds(pid):
    """Returns the CPU time of a process's threads so far, to the nanosecond."""
    total_ns = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as schedstat:
            total_ns += int(schedstat.read().split()[0])
    return total_ns / _NS_PER_SECOND


def peak_mib(pid):
    """Returns the peak memory of a process in MiB."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / _KIB_PER_MIB
    raise ValueError(f"process {pid} has no memory")


def _cpu_seconds_by_state():
    """Returns seconds since boot, of all CPUs: user, nice, system, idle, iowait, irq,
    softirq, steal."""
    with open("/proc/stat") as stat:
        return [int(ticks) / _CLOCK_TICKS_PER_SECOND
                for ticks in stat.readline().split()[1:9]]


def cpu_seconds():
    """Returns CPU seconds since boot: those used, and those of all CPUs."""
    seconds = _cpu_seconds_by_state()
    idle = seconds[3] + seconds[4]
    return sum(seconds) - idle, sum(seconds)


def stolen_seconds():
    """Returns CPU seconds since boot: those that other virtual machines of the host
    took from this one, and those of all CPUs."""
    seconds = _cpu_seconds_by_state()
    return seconds[7], sum(seconds)
