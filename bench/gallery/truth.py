# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What users see when a server or its host misbehaves, by arithmetic.

Users arrive at a constant rate, whatever the server does. All times are in
seconds, and quantiles are shares, such as 0.99.
"""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Truth:
    """A figure that is known, and the range that counts as right.

    `figure` is "p99", in seconds, or "failed", the share of requests.
    """

    figure: str
    lowest: float
    highest: float
    text: str


def paused(quantile, pause, period):
    """Returns the wait if everything stops for `pause` once in each `period`.

    Who arrives during a pause waits for its end. The share that waits longer
    than x is therefore (pause - x) / period.
    """
    return max(0.0, pause - (1 - quantile) * period)


def overloaded(quantile, seconds, asked, served):
    """Returns the wait if `asked` requests per second arrive, not `served`.

    The queue is empty at first. Who arrives at time t finds
    (asked - served) * t requests waiting, and each takes 1 / served.
    """
    return quantile * seconds * max(0.0, asked / served - 1)


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def near(figure, value, tolerance):
    """A figure with a relative tolerance."""
    text = (
        f"{100 * value:g} % fail"
        if figure == "failed"
        else f"p99 {milliseconds(value)}"
    )
    return Truth(figure, value * (1 - tolerance), value * (1 + tolerance), text)


def at_most(value):
    return Truth("p99", 0.0, value, f"p99 < {milliseconds(value)}")


def at_least(value):
    return Truth("p99", value, math.inf, f"p99 > {milliseconds(value)}")


def only_a_warning():
    """No figure is right without a warning."""
    return Truth("p99", math.inf, -math.inf, "a warning is due")
