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

# The service that ghz and fortio call; bench/gallery/known_server answers it.
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
    match = re.search(r"\n +99% +([\d.]+)(us|ms|s|m)\n", output)
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


def _ghz_command(address, seconds, rate, folder):
    pace = ([f"--rps={rate}", "--async"] if rate
            else [f"--concurrency={CONCURRENCY}"])
    proto = os.path.join(folder, "health.proto")
    with open(proto, "w", encoding="utf-8") as file:
        file.write(HEALTH_PROTO)
    return ["ghz", "--insecure", f"--proto={proto}",
            "--call=grpc.health.v1.Health/Check", *pace,
            f"--duration={seconds}s", "--duration-stop=wait", "--format=json",
            address]


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


# ---- fortio -----------------------------------------------------------------

_FORTIO_JSON = "fortio.json"


def _fortio_command(address, seconds, rate, folder, more=()):
    return ["fortio", "load", "-grpc", "-ping", f"-qps={rate}",
            f"-c={CONCURRENCY}", f"-t={seconds}s", "-p=50,99", *more,
            f"-json={os.path.join(folder, _FORTIO_JSON)}", address]


def _fortio_open_command(*arguments):
    return _fortio_command(*arguments, more=("-uniform", "-nocatchup"))


def parse_fortio(output, error, folder):
    with open(os.path.join(folder, _FORTIO_JSON), encoding="utf-8") as file:
        result = json.load(file)
    times = result["DurationHistogram"]
    p99 = [row["Value"] for row in times["Percentiles"]
           if row["Percentile"] == 99]
    succeeded = result["RetCodes"].get("SERVING", 0)
    return Report(
        p99=p99[0],
        failed=1 - succeeded / times["Count"],
        per_second=result["ActualQPS"],
        warnings=[line.strip() for line in (output + error).splitlines()
                  if re.search(r"warning|\[W|\[E|WRN|ERR", line)])


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
    Peer("fortio -qps", "grpc", True, _fortio_command, parse_fortio),
    Peer("fortio -qps -uniform -nocatchup", "grpc", True, _fortio_open_command,
         parse_fortio),
]
