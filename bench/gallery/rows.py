# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The rows of the gallery: what happens, and what is true."""

import dataclasses

from bench.gallery import disturbances
from bench.gallery import truth

# A healthy server answers within this time, also on a machine with other work.
HEALTHY = 0.020


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """What the server itself does; as the flags of known_server.cc."""

    work_us: int = 0
    fail_every: int = 0
    slow_start_ms: int = 0


# Most rows: their duration, and the users who arrive per second.
SECONDS = 6
RATE = 1000

# How long everything stops, once.
PAUSE = 0.6

# How long another program has a CPU in each period.
BUSY, PERIOD = 0.030, 0.1

# CPUs that a server needs, at a rate and with a work per request, and has.
WORK_RATE, WORK_US, QUOTA = 100, 6000, 0.5


@dataclasses.dataclass(frozen=True)
class Row:
    """One way to be fooled; docs/fooled.md describes them.

    `causes` are the findings of distbench that name what happened. `rate` is
    that of the users, per second, and of the generators that send at a rate.
    """

    name: str
    known: truth.Truth
    causes: tuple[str, ...]
    rate: int = RATE
    seconds: int = SECONDS
    server: Behaviour = Behaviour()
    disturbance: disturbances.Disturbance = disturbances.Disturbance()
    needs_rate: bool = False
    needs_libc_clock: bool = False
    ours_only: bool = False


def rows(clock_library):
    """Returns all rows.

    `clock_library` is the path of //tests/faults:libshifted_clock.so.
    """
    stopped = truth.near("p99", truth.paused(0.99, PAUSE, SECONDS), 0.1)
    needed = WORK_RATE * WORK_US / 1e6
    return [
        Row("frozen", stopped, ("stalls",),
            disturbance=disturbances.Stop(2, PAUSE)),
        Row("paused_together", stopped, ("late_sends", "stalls"),
            disturbance=disturbances.Stop(2, PAUSE, with_generator=True)),
        Row("slow_start", truth.at_most(HEALTHY), ("not_steady",),
            seconds=14, server=Behaviour(slow_start_ms=1500)),
        Row("failing", truth.near("failed", 0.01, 0.5), ("failed_rpcs",),
            server=Behaviour(fail_every=100)),
        Row("throttled",
            truth.near(
                "p99", truth.overloaded(0.99, SECONDS, needed, QUOTA), 0.2),
            ("throttled", "stalls"), rate=WORK_RATE,
            server=Behaviour(work_us=WORK_US),
            disturbance=disturbances.Quota(QUOTA)),
        Row("busy_server",
            truth.near("p99", truth.paused(0.99, BUSY, PERIOD), 0.2),
            ("stalls",), disturbance=disturbances.Sibling(BUSY, PERIOD)),
        Row("busy_generator", truth.at_most(HEALTHY),
            ("late_sends", "waited_for_cpu"),
            disturbance=disturbances.Sibling(BUSY, PERIOD, at_generator=True)),
        Row("too_fast", truth.at_least(0.5), ("late_sends", "unsent_load"),
            rate=100_000, seconds=2, needs_rate=True),
        Row("clock_ahead", truth.at_most(HEALTHY), (),
            disturbance=disturbances.ClockStep(4, 0.6, clock_library),
            needs_libc_clock=True),
        Row("clock_back", truth.at_most(HEALTHY), (),
            disturbance=disturbances.ClockStep(4, -0.2, clock_library),
            needs_libc_clock=True),
        Row("stolen", truth.only_a_warning(), ("stolen",),
            disturbance=disturbances.StolenTime(0.2), ours_only=True),
    ]
