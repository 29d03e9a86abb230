"""Latencies, and failures above all latencies; percentiles and their intervals.

The methods are those of distbench/stats (outcomes.h, quantile_interval.h and
ratio_error.h), so that every figure is the same.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from distbench._distributions import binomial_quantile, student_t_quantile
from distbench.histogram import CurvePoint, Histogram

# A quantile that falls among requests that failed or were never sent. It is
# above every latency.
FAILED = math.inf

# The confidence level of all intervals of percentiles.
CONFIDENCE = 0.95

# The percentiles that reports show.
REPORT_PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999)

# Fewer blocks give a poor estimate of their spread; more are too short to be
# independent of each other.
_MIN_BLOCKS = 10
_MAX_BLOCKS = 30

# Keeps the error of a ratio finite.
_MAX_CORRELATION = 0.95


@dataclass
class Outcomes:
    """Requests in one order: those that succeeded by their latency, and above
    them those that failed, expired or were never sent."""

    latency_ns: Histogram = field(default_factory=Histogram)
    failed_count: int = 0

    @property
    def count(self) -> int:
        """The number of requests, including those that failed."""
        return self.latency_ns.count + self.failed_count

    @property
    def failed_share(self) -> float:
        """From 0 to 1; 0 if there are no requests."""
        return self.failed_count / self.count if self.count > 0 else 0.0

    def merge(self, other: "Outcomes") -> None:
        """Adds the requests of another object."""
        self.latency_ns.merge(other.latency_ns)
        self.failed_count += other.failed_count

    def value_at_quantile(self, quantile: float) -> float:
        """Returns the outcome at position floor(count * quantile) of the sorted
        outcomes: nanoseconds, or FAILED. Requires count > 0."""
        if self.failed_count == 0:
            return self.latency_ns.value_at_quantile(quantile)
        position = min(int(self.count * quantile), self.count - 1)
        if position >= self.latency_ns.count:
            return FAILED
        # The middle of the position, so that rounding does not find its
        # neighbour.
        return self.latency_ns.value_at_quantile(
            (position + 0.5) / self.latency_ns.count
        )

    def supports_quantile(self, quantile: float) -> bool:
        """Whether there are enough requests for the quantile."""
        return supports_quantile(self.count, quantile)


@dataclass(frozen=True)
class Percentile:
    """An estimated percentile with its confidence interval.

    Attributes:
        percent: such as 99.9.
        value_ns: nanoseconds, or FAILED.
        lower_ns, upper_ns: bounds of the interval, at CONFIDENCE; None where
            there are too few requests for a bound, FAILED where it falls among
            the failures.
        method: "blocks" (from the spread between parts of the run) or
            "order_statistics" (from the ranks, as if requests were independent).
    """

    percent: float
    value_ns: float
    lower_ns: float | None
    upper_ns: float | None
    method: str


@dataclass
class Latency:
    """One kind of latency of one RPC.

    Attributes:
        outcomes: of all requests without the warm-up.
        consecutive: the same requests in the order of time, as far as they are
            known in parts; for the intervals of percentiles.
    """

    outcomes: Outcomes = field(default_factory=Outcomes)
    consecutive: Sequence[Outcomes] = ()

    @property
    def count(self) -> int:
        """The number of requests, including those that failed."""
        return self.outcomes.count

    @property
    def mean_ns(self) -> float | None:
        """The mean latency of those that succeeded; None if none did."""
        return self.outcomes.latency_ns.mean

    def percentile_ns(self, percent: float) -> float | None:
        """Returns nanoseconds or FAILED; None if there are too few requests."""
        if not self.outcomes.supports_quantile(percent / 100):
            return None
        return self.outcomes.value_at_quantile(percent / 100)

    def percentile(self, percent: float) -> Percentile | None:
        """Returns a percentile with its interval; None if there are too few
        requests."""
        found = self.percentiles([percent])
        return found[0] if found else None

    def percentiles(
        self, percents: Iterable[float] = REPORT_PERCENTILES
    ) -> list[Percentile]:
        """Returns those of the percentiles that the number of requests
        supports, with their intervals."""
        blocks = make_blocks(self.consecutive)
        return [
            _estimate(self.outcomes, blocks, percent)
            for percent in percents
            if self.outcomes.supports_quantile(percent / 100)
        ]

    def curve(self) -> list[CurvePoint]:
        """Returns the cumulative distribution of those that succeeded."""
        return self.outcomes.latency_ns.curve()


def supports_quantile(count: int, quantile: float) -> bool:
    """Whether at least one of `count` requests is expected above the quantile."""
    # Slightly less than 1, because 1 - 0.99999 is not exactly 0.00001.
    return count * (1 - quantile) >= 1 - 1e-6


def make_blocks(consecutive: Iterable[Outcomes]) -> list[Outcomes]:
    """Groups consecutive outcomes into blocks of equally many entries; returns
    none if fewer than ten entries have requests."""
    filled = [part for part in consecutive if part.count > 0]
    if len(filled) < _MIN_BLOCKS:
        return []
    blocks = [Outcomes() for _ in range(min(len(filled), _MAX_BLOCKS))]
    for i, part in enumerate(filled):
        blocks[i * len(blocks) // len(filled)].merge(part)
    return blocks


def _estimate(
    outcomes: Outcomes, blocks: Sequence[Outcomes], percent: float
) -> Percentile:
    quantile = percent / 100
    lower, upper = _order_statistic_ranks(outcomes.count, quantile)
    if blocks:
        # The wider one of both, because few values beyond a quantile say little
        # about the spread between blocks.
        block_lower, block_upper = _block_ranks(outcomes, blocks, quantile)
        lower = min(lower, block_lower)
        upper = max(upper, block_upper)
    return Percentile(
        percent,
        outcomes.value_at_quantile(quantile),
        _value_at_rank(outcomes, lower),
        _value_at_rank(outcomes, upper),
        "blocks" if blocks else "order_statistics",
    )


def _order_statistic_ranks(count: int, quantile: float) -> tuple[int, int]:
    """The distribution-free interval: the number of independent values below a
    quantile is binomial (David and Nagaraja, Order Statistics, 7.1)."""
    alpha = 1 - CONFIDENCE
    return (
        binomial_quantile(count, quantile, alpha / 2),
        binomial_quantile(count, quantile, 1 - alpha / 2) + 1,
    )


def _block_ranks(
    outcomes: Outcomes, blocks: Sequence[Outcomes], quantile: float
) -> tuple[int, int]:
    """The interval of the share below the estimate (Woodruff, 1952), from the
    spread between blocks."""
    value = outcomes.value_at_quantile(quantile)
    error = _error_of_share(
        [block.latency_ns.count_at_most(value) for block in blocks],
        [block.count for block in blocks],
    )
    half_width = student_t_quantile((1 + CONFIDENCE) / 2, len(blocks) - 1) * error
    return (
        math.floor(max(0.0, quantile - half_width) * outcomes.count),
        math.ceil(min(1.0, quantile + half_width) * outcomes.count) + 1,
    )


def _error_of_share(amounts: Sequence[int], counts: Sequence[int]) -> float:
    """The standard error of sum(amounts) / sum(counts), where neighbouring
    blocks may be correlated. Requires at least ten blocks."""
    count = float(sum(counts))
    ratio = sum(amounts) / count
    residuals = [a - ratio * c for a, c in zip(amounts, counts)]
    squares = sum(residual * residual for residual in residuals)
    products = sum(a * b for a, b in zip(residuals, residuals[1:]))
    size = len(residuals)
    error = math.sqrt(squares * size / (size - 1)) / count
    if squares == 0:
        return error
    measured = products / squares
    correlation = min(
        max(measured + (1 + 3 * measured) / size, 0.0), _MAX_CORRELATION
    )
    return error * math.sqrt((1 + correlation) / (1 - correlation))


def _value_at_rank(outcomes: Outcomes, rank: int) -> float | None:
    """The outcome at a position from 1; None outside."""
    if not 1 <= rank <= outcomes.count:
        return None
    # The middle of the position, so that rounding does not find its neighbour.
    return outcomes.value_at_quantile(min(1.0, (rank - 0.5) / outcomes.count))
