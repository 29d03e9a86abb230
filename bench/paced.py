# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Workloads that send RPCs at a constant rate, directly on the driver: how late
they are."""

import dataclasses
import json
import os
import statistics
import subprocess
import sys

from bench import machine


@dataclasses.dataclass(frozen=True)
class Workload:
    """RPCs at a constant rate, directly on the driver."""
    name: str
    per_second: int
    driver: str


WORKLOADS = [
    Workload("paced_10k", 10_000, "grpc"),
    Workload("tcp_paced_10k", 10_000, "tcp"),
    Workload("tcp_paced_100k", 100_000, "tcp"),
]


def run(workload, arguments):
    """Runs a paced client against a server; returns a list of figures."""
    runs = []
    for number in range(arguments.rounds):
        print(f"\r{workload.name}: round {number + 1} of {arguments.rounds}"
              "\033[K", end="", file=sys.stderr, flush=True)
        server = subprocess.Popen(
            [os.path.join(arguments.binaries, "driver_throughput"), "--server",
             f"--driver={workload.driver}"], stdout=subprocess.PIPE, text=True)
        try:
            target = server.stdout.readline().strip()
            busy_before, total_before = machine.cpu_seconds()
            server_before = machine.process_cpu_seconds(server.pid)
            client = subprocess.run(
                [os.path.join(arguments.binaries, "driver_pacing"),
                 f"--target={target}", f"--driver={workload.driver}",
                 f"--per_second={workload.per_second}",
                 f"--seconds={arguments.seconds}"],
                stdout=subprocess.PIPE, text=True, check=True)
            busy_after, total_after = machine.cpu_seconds()
            figures = json.loads(client.stdout)
            own = (machine.process_cpu_seconds(server.pid) - server_before
                   + figures["cpu_us"] * figures["rpcs"] / 1e6)
            figures["disturbance"] = max(
                0, (busy_after - busy_before - own) / (total_after - total_before))
            runs.append(figures)
        finally:
            server.kill()
            server.wait()
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return runs


def show(workload, runs):
    print(f"{workload.name}: {workload.per_second} per second at constant "
          f"intervals, driver {workload.driver}; how late, in us")
    row = {key: statistics.median(run[key] for run in runs)
           for key in ("late_p50_us", "late_p99_us", "late_p999_us",
                       "late_max_us", "achieved_per_second", "cpu_us",
                       "disturbance")}
    print(f"  p50 {row['late_p50_us']:.1f}  p99 {row['late_p99_us']:.1f}  "
          f"p99.9 {row['late_p999_us']:.1f}  max {row['late_max_us']:.1f}; "
          f"{row['achieved_per_second']:.0f} per second, CPU us of the client "
          f"{row['cpu_us']:.2f}, disturbed {row['disturbance']:.1%}")
