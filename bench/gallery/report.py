# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What a load generator reported, and whether its user was fooled."""

import dataclasses
import math

from bench.gallery import truth

# A generator whose report shows a rate below this share of the one that it was
# asked for lets its user see that something is wrong.
SHOWS_SHORTFALL = 0.95

RIGHT, WARNED, SHOWN, FOOLED = "right", "warned", "rate shown", "fooled"


@dataclasses.dataclass
class Report:
    """The figures of one run.

    `p99` is in seconds, infinite if it falls among requests that failed.
    `failed` is a share of the requests. `per_second` counts the answered ones.
    `warnings` are quoted from the report.
    """

    p99: float
    failed: float
    per_second: float
    warnings: list[str]


def verdict(known, report, asked):
    """Compares with the truth. `asked` is a rate, or None in closed loops."""
    value = getattr(report, known.figure)
    if known.lowest <= value <= known.highest:
        return RIGHT
    if report.warnings:
        return WARNED
    if asked is not None and report.per_second < SHOWS_SHORTFALL * asked:
        return SHOWN
    return FOOLED


def text(known, report):
    """The figure that the verdict is about."""
    value = getattr(report, known.figure)
    if known.figure == "failed":
        return f"{100 * value:.2f} %"
    return "failed" if math.isinf(value) else truth.milliseconds(value)
