# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What is compared: servers, and the traffic that they get."""

import dataclasses

from bench.gallery import report
from bench.gallery import truth

# How long the server is frozen, and after how many seconds of traffic.
FREEZE_SECONDS = 1
FREEZE_AFTER = 1

# An RPC that takes longer than this is slow.
SLOW_SECONDS = 0.1


@dataclasses.dataclass(frozen=True)
class Service:
    """What is called. `descriptors` is empty if the server has reflection, else
    the name of a descriptor set in the folder of the comparison."""

    name: str
    method: str  # as package.Service/Method
    request: str  # JSON
    descriptors: str = ""


CACHE = Service("python", "example.Cache/Get", '{"key": "a"}')
HEALTH = Service("bare", "grpc.health.v1.Health/Check", "{}", "health.pb")


@dataclasses.dataclass(frozen=True)
class Case:
    """A closed loop of `in_flight` requests, or an open one of `rate` per
    second, for some seconds. `figure` is the one whose ratio is shown."""

    title: str
    seconds: float
    figure: str
    in_flight: int = 0
    rate: int = 0
    is_frozen: bool = False


@dataclasses.dataclass
class Figures:
    """What a program reported; times are in seconds. `slow` is the number of
    RPCs that took longer than SLOW_SECONDS, `failed` a share of all."""

    per_second: float
    p50: float
    p99: float
    longest: float
    slow: float
    failed: float


def from_report(said, p50, longest, slow):
    """Returns figures from the gallery's report and what it does not have."""
    return Figures(said.per_second, p50, said.p99, longest, slow, said.failed)


def cases(rate, seconds):
    """Returns all cases. That of the freeze is longer than the freeze."""
    frozen_seconds = max(seconds, FREEZE_AFTER + FREEZE_SECONDS + 1)
    return [
        Case("closed loop, 1 in flight", seconds, "per_second", in_flight=1),
        Case("closed loop, 50 in flight", seconds, "per_second",
             in_flight=50),
        Case(f"open loop, {rate} per second", seconds, "p50", rate=rate),
        Case(f"open loop, {rate} per second, server frozen for "
             f"{FREEZE_SECONDS} s of {frozen_seconds:g} s", frozen_seconds,
             "slow", rate=rate, is_frozen=True),
    ]


def truth_of_freeze(case):
    """Returns what users see who send at the rate, by arithmetic.

    The server answers what waits for it at once when it goes on, and all else
    in no time, so that real users see no less.
    """
    def wait(quantile):
        return truth.paused(quantile, FREEZE_SECONDS, case.seconds)
    return from_report(
        report.Report(wait(0.99), 0.0, case.rate, []), p50=wait(0.5),
        longest=wait(1.0), slow=case.rate * (FREEZE_SECONDS - SLOW_SECONDS))
