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
    the name of a descriptor set in the folder of the comparison. A cache has
    methods that stream, too."""

    name: str
    method: str  # as package.Service/Method
    request: str  # JSON
    descriptors: str = ""

    @property
    def is_cache(self):
        return self.method == _GET


_GET = "example.Cache/Get"
PYTHON = Service("python", _GET, '{"key": "a"}')
GO = Service("go", _GET, '{"key": "a"}')
BARE = Service("bare", "grpc.health.v1.Health/Check", "{}", "health.pb")

# What a Watch is answered by (grpc_service.py).
WATCHED = 5


@dataclasses.dataclass(frozen=True)
class Stream:
    """A method of a cache that streams. `messages` are those that are counted:
    what the client sends, `interval_ms` apart or as fast as it can, or what it
    gets. In an echo, the times of messages are measured as well."""

    method: str
    messages: int
    sends: int = 1
    interval_ms: int = 0
    is_echo: bool = False


@dataclasses.dataclass(frozen=True)
class Case:
    """A closed loop of `in_flight` requests, or an open one of `rate` per
    second, for some seconds. `figure` is the one whose ratio is shown. Rates
    and CPU times of streams are those of their messages."""

    title: str
    seconds: float
    figure: str
    in_flight: int = 0
    rate: int = 0
    is_frozen: bool = False
    connections: int = 1
    stream: Stream | None = None

    @property
    def messages(self):
        """Of each RPC."""
        return self.stream.messages if self.stream else 1


@dataclasses.dataclass
class Figures:
    """What a program reported; times are in seconds. `slow` is the number of
    RPCs that took longer than SLOW_SECONDS, `failed` a share of all. `cpu_us`
    is what all of its processes used for each RPC, from their start to their
    end."""

    per_second: float
    p50: float
    p99: float
    longest: float
    slow: float
    failed: float
    cpu_us: float = 0.0


def from_report(said, p50, longest, slow):
    """Returns figures from the gallery's report and what it does not have."""
    return Figures(said.per_second, p50, said.p99, longest, slow, said.failed)


def of_messages(figures, case, cpu_seconds, rpcs):
    """Returns figures of RPCs with the rate of their messages, and CPU times."""
    return dataclasses.replace(
        figures, per_second=figures.per_second * case.messages,
        cpu_us=1e6 * cpu_seconds / (rpcs * case.messages))


def cases(rate, seconds):
    """Returns all cases. That of the freeze is longer than the freeze."""
    frozen_seconds = max(seconds, FREEZE_AFTER + FREEZE_SECONDS + 1)
    return [
        Case("closed loop, 1 in flight", seconds, "per_second", in_flight=1),
        Case("closed loop, 50 in flight", seconds, "per_second",
             in_flight=50),
        Case("closed loop, 50 in flight, 8 connections", seconds, "per_second",
             in_flight=50, connections=8),
        Case(f"open loop, {rate} per second", seconds, "p50", rate=rate),
        Case(f"open loop, {rate} per second, server frozen for "
             f"{FREEZE_SECONDS} s of {frozen_seconds:g} s", frozen_seconds,
             "slow", rate=rate, is_frozen=True),
    ]


def stream_cases(seconds):
    """Returns those of a cache, all with 50 streams at once. In the last one,
    the server is frozen in the middle of streams that go on sending."""
    title = "50 streams at once, each of"
    many = {"in_flight": 50, "seconds": seconds, "figure": "per_second"}
    paced = Stream("Talk", 50, sends=50, interval_ms=50, is_echo=True)
    return [
        Case(f"{title} {WATCHED} responses",
             stream=Stream("Watch", WATCHED), **many),
        Case(f"{title} 100 requests",
             stream=Stream("Put", 100, sends=100), **many),
        Case(f"{title} 100 messages each way",
             stream=Stream("Talk", 100, sends=100), **many),
        Case(f"{title} 50 echoes 50 ms apart, server frozen for "
             f"{FREEZE_SECONDS} s", 4, "longest", in_flight=50, is_frozen=True,
             stream=paced),
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
