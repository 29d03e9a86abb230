# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Load generators of others: how they are called, and what they print."""

import dataclasses
import json
import math
import os
import re
import shutil
from collections.abc import Callable

from bench.gallery.report import Report

# Connections, or requests in flight, of all modes.
CONCURRENCY = 10

# Streams of each HTTP/2 connection in an open loop: enough never to wait.
STREAMS = 1000

# The service that ghz calls; bench/gallery/known_server answers it.
HEALTH_PROTO = """syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse { int32 status = 1; }
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
"""


def _number(pattern, output, what):
    match = re.search(pattern, output)
    if match is None:
        raise ValueError(f"{what}: no {pattern!r} in its output:\n{output}")
    return float(match.group(1))


# ---- wrk --------------------------------------------------------------------

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def _wrk_command(address, seconds, rate, folder):
    del rate, folder
    return ["wrk", "-t1", f"-c{CONCURRENCY}", f"-d{seconds}s", "--latency",
            f"http://{address}/"]


def parse_wrk(output, error, folder):
    del error, folder
    match = re.search(r"\n +99% +([\d.]+)(us|ms|s|m) *\n", output)
    if match is None:
        raise ValueError(f"wrk: no percentiles in its output:\n{output}")
    requests = _number(r"(\d+) requests in ", output, "wrk")
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    return Report(
        p99=float(match.group(1)) * _UNITS[match.group(2)],
        failed=int(failed.group(1)) / requests if failed else 0.0,
        per_second=_number(r"Requests/sec: +([\d.]+)", output, "wrk"),
        warnings=[line.strip() for line in output.splitlines()
                  if line.strip().startswith(("Non-2xx", "Socket errors"))])


# ---- h2load -----------------------------------------------------------------

_H2LOAD_LOG = "h2load.log"


def _h2load_command(address, seconds, rate, folder):
    pace = ([f"--rps={rate / CONCURRENCY:g}", f"-m{STREAMS}"] if rate
            else ["-m1"])
    return ["h2load", f"-c{CONCURRENCY}", f"-D{seconds}", *pace,
            f"--log-file={os.path.join(folder, _H2LOAD_LOG)}",
            f"http://{address}/"]


def parse_h2load(output, error, folder):
    """Percentiles are those of its log, since it prints none."""
    del error
    with open(os.path.join(folder, _H2LOAD_LOG), encoding="utf-8") as file:
        times_us = sorted(int(line.split("\t")[2]) for line in file)
    counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, "
                       r"(\d+) timeout", output)
    if counts is None or not times_us:
        raise ValueError(f"h2load: no requests in its output:\n{output}")
    succeeded, *others = map(int, counts.groups())
    total = succeeded + sum(others)
    return Report(
        p99=times_us[math.ceil(0.99 * len(times_us)) - 1] / 1e6,
        failed=sum(others) / total,
        per_second=_number(r"finished in [^,]+, ([\d.]+) req/s", output,
                           "h2load"),
        warnings=[counts.group(0)] if any(others) else [])


# ---- ghz --------------------------------------------------------------------


def ghz_command(program, address, seconds, rate, in_flight, request):
    """Returns ghz's command line: an open loop, or without a rate a closed one.

    `request` are the flags that say what is called.
    """
    pace = ([f"--rps={rate}", "--async"] if rate
            else [f"--concurrency={in_flight}"])
    return [program, "--insecure", *request, *pace, f"--duration={seconds}s",
            "--duration-stop=wait", "--format=json", address]


def _ghz_command(address, seconds, rate, folder):
    proto = os.path.join(folder, "health.proto")
    with open(proto, "w", encoding="utf-8") as file:
        file.write(HEALTH_PROTO)
    return ghz_command(
        "ghz", address, seconds, rate, CONCURRENCY,
        [f"--proto={proto}", "--call=grpc.health.v1.Health/Check"])


def parse_ghz(output, error, folder):
    del error, folder
    result = json.loads(output)
    by_percent = {row["percentage"]: row["latency"]
                  for row in result["latencyDistribution"] or []}
    errors = result.get("errorDistribution") or {}
    return Report(
        p99=by_percent.get(99, math.inf) / 1e9,
        failed=sum(errors.values()) / result["count"],
        per_second=result["rps"],
        warnings=[f"{count} x {error}" for error, count in errors.items()])


# ---- hey --------------------------------------------------------------------


def _hey_command(address, seconds, rate, folder):
    del folder
    return ["hey", "-z", f"{seconds}s", "-c", f"{CONCURRENCY}",
            "-q", f"{rate / CONCURRENCY:g}", f"http://{address}/"]


def parse_hey(output, error, folder):
    del error, folder
    counts = {int(status): int(count) for status, count in
              re.findall(r"\[(\d+)\]\t(\d+) responses", output)}
    lost = sum(map(int, re.findall(r"\n +\[(\d+)\]\t(?!\d+ resp)", output)))
    failed = sum(counts.values()) - counts.get(200, 0) + lost
    p99 = _number(r"\n +99% in ([\d.]+) secs", output, "hey")
    return Report(
        p99=p99,
        failed=failed / (sum(counts.values()) + lost),
        per_second=_number(r"Requests/sec:\t([\d.]+)", output, "hey"),
        warnings=[f"{failed} without status 200"] if failed else [])


# ---- All --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Peer:
    """One way to use a load generator.

    `command(address, seconds, rate, folder)` returns its command line; the rate
    is None in closed loops. `parse(stdout, stderr, folder)` returns a
    Report.
    `uses_libc_clock` is false if it cannot be shown a wrong clock.
    """

    name: str
    protocol: str
    is_open: bool
    command: Callable
    parse: Callable
    uses_libc_clock: bool = False

    @property
    def program(self):
        return self.name.split()[0]

    def is_installed(self):
        return shutil.which(self.program) is not None


PEERS = [
    Peer("wrk", "http1", False, _wrk_command, parse_wrk, uses_libc_clock=True),
    Peer("h2load", "http2", False, _h2load_command, parse_h2load,
         uses_libc_clock=True),
    Peer("h2load --rps", "http2", True, _h2load_command, parse_h2load,
         uses_libc_clock=True),
    Peer("ghz", "grpc", False, _ghz_command, parse_ghz),
    Peer("ghz --rps --async", "grpc", True, _ghz_command, parse_ghz),
    Peer("hey -q", "http1", True, _hey_command, parse_hey),
]
