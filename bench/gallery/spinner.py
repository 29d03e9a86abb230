# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Uses a CPU with real-time priority, for a part of each period.

    spinner.py CPU BUSY_SECONDS PERIOD_SECONDS

Prints "spins" when it begins. Ends with the process that started it.
"""

import os
import sys
import time

PRIORITY = 10


def main():
    cpu, busy, period = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    parent = os.getppid()
    print("spins", flush=True)
    begin = time.monotonic()
    while os.getppid() == parent:
        while time.monotonic() < begin + busy:
            pass
        begin += period
        time.sleep(max(0.0, begin - time.monotonic()))


if __name__ == "__main__":
    main()
