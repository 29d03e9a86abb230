"""The rows of the gallery: what happens, and what is true."""

import dataclasses

from bench.gallery import disturbances
from bench.gallery import truth

# A healthy server answers within this time, also on a machine with other work.
HEALTHY = 0.010


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """What the server itself does; as the flags of known_server.cc."""

    work_us: int = 0
    fail_every: int = 0
    slow_start_ms: int = 0


@dataclasses.dataclass(frozen=True)
class Row:
    """One way to be fooled.

    `rate` is that of the users, per second, and of the generators that send at
    a rate. `causes` are the findings of distbench that name what happened.
    """

    name: str
    title: str
    rate: int
    seconds: int
    known: truth.Truth
    causes: tuple[str, ...]
    server: Behaviour = Behaviour()
    disturbance: disturbances.Disturbance = disturbances.Disturbance()
    needs_rate: bool = False
    needs_libc_clock: bool = False
    ours_only: bool = False


def rows(clock_library):
    """Returns all rows.

    `clock_library` is the path of //tests/faults:libshifted_clock.so.
    """
    pause = truth.paused(0.99, 0.6, 6)
    return [
        Row("frozen", "the server freezes for 0.6 s of 6 s", 1000, 6,
            truth.near("p99", pause, 0.1), ("stalls",),
            disturbance=disturbances.Stop(2, 0.6)),
        Row("paused_together",
            "server and generator freeze together for 0.6 s of 6 s", 1000, 6,
            truth.near("p99", pause, 0.1), ("late_sends", "stalls"),
            disturbance=disturbances.Stop(2, 0.6, with_generator=True)),
        Row("slow_start",
            "the server answers nothing for 1.5 s, then at once; the truth is "
            "that of the warm server", 1000, 14,
            truth.at_most(HEALTHY), ("not_steady",),
            server=Behaviour(slow_start_ms=1500)),
        Row("failing", "1 % of the requests fail", 1000, 6,
            truth.near("failed", 0.01, 0.5), ("failed_rpcs",),
            server=Behaviour(fail_every=100)),
        Row("throttled",
            "100 requests per second need 0.6 CPUs, and the server's control "
            "group has 0.5", 100, 6,
            truth.near("p99", truth.overloaded(0.99, 6, 0.6, 0.5), 0.2),
            ("throttled", "stalls"),
            server=Behaviour(work_us=6000),
            disturbance=disturbances.Quota(0.5)),
        Row("busy_server",
            "another program has the server's CPU for 30 ms of each 100 ms",
            1000, 6, truth.near("p99", truth.paused(0.99, 0.030, 0.1), 0.2),
            ("stalls",),
            disturbance=disturbances.Sibling(0.030, 0.1)),
        Row("busy_generator",
            "another program has the generator's CPU for 30 ms of each 100 ms",
            1000, 6, truth.at_most(HEALTHY), ("late_sends",),
            disturbance=disturbances.Sibling(0.030, 0.1, at_generator=True)),
        Row("too_fast",
            "the rate is more than the generator's CPU can send", 100_000, 2,
            truth.at_least(0.5), ("late_sends", "unsent_load"),
            needs_rate=True),
        Row("clock_ahead", "the wall clock jumps ahead by 0.6 s", 1000, 6,
            truth.at_most(HEALTHY), (),
            disturbance=disturbances.ClockStep(4, 0.6, clock_library),
            needs_libc_clock=True),
        Row("clock_back", "the wall clock jumps back by 0.2 s", 1000, 6,
            truth.at_most(HEALTHY), (),
            disturbance=disturbances.ClockStep(4, -0.2, clock_library),
            needs_libc_clock=True),
        Row("stolen",
            "the hypervisor takes 20 % of each CPU (a false /proc/stat)",
            1000, 6, truth.only_a_warning(), ("stolen",),
            disturbance=disturbances.StolenTime(0.2), ours_only=True),
    ]
