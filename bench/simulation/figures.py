# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Rates and latencies of real and simulated runs, and how far they differ."""

import dataclasses
import json
import statistics
import subprocess

# How far simulated figures may be off, relative to the real ones.
AIMS = {"rate": 0.10, "p50": 0.20, "p99": 0.30}


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of an RPC."""

    rate: float  # per second
    p50: float  # microseconds
    p99: float


@dataclasses.dataclass(frozen=True)
class Range:
    """Of an RPC in several rounds."""

    median: Figures
    least: Figures
    most: Figures

    @classmethod
    def of(cls, rounds):
        """Of a list of Figures; each of the three for each figure by itself."""
        return cls(*(Figures(*(choose(getattr(each, name) for each in rounds)
                               for name in AIMS))
                     for choose in (statistics.median, min, max)))


def _percentile(times, percentile):
    for entry in times["percentiles"]:
        if entry["percentile"] == percentile:
            return entry["value_ns"] / 1e3
    raise ValueError(f"no percentile {percentile}")


def of_result(binary, path):
    """Returns the Figures of each RPC, by name.

    Their latencies are service times: response times of open loops contain the
    lateness of a real generator, which is not simulated.
    """
    # Exits 3 if the run is invalid, such as for late sends.
    report = subprocess.run(
        [binary, "report", path, "--format=json"], check=False,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    (test,) = json.loads(report.stdout)["tests"]
    if test["failure"]:
        raise ValueError(f"{path}: the test failed: {test['failure']}")
    return {rpc["name"]: Figures(rpc["per_second"],
                                 _percentile(rpc["service_time"], 50),
                                 _percentile(rpc["service_time"], 99))
            for rpc in test["rpcs"]}


def errors(real, simulated):
    """Returns the relative error of each figure, by name."""
    return {name: getattr(simulated, name) / getattr(real, name) - 1
            for name in AIMS}


def is_within(name, error):
    return abs(error) <= AIMS[name]
