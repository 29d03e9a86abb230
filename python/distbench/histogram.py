"""The log-linear histograms in which distbench counts latencies.

Buckets, quantiles and sums are those of the C++ class LogHistogram
(distbench/stats/log_histogram.h), so that every figure is the same in both.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from distbench._proto import results_pb2
from distbench.errors import ResultError

# Each octave of values has 2^7 buckets of equal width.
SUB_BUCKET_BITS = 7
_SUB_BUCKETS = 1 << SUB_BUCKET_BITS

# Larger values are counted as overflow: 2^48 ns are about 78 hours.
_VALUE_BITS = 48
MAX_VALUE = (1 << _VALUE_BITS) - 1
BUCKET_COUNT = (_VALUE_BITS - SUB_BUCKET_BITS + 1) * _SUB_BUCKETS

_MAX_COUNT = 2**63 - 1


@dataclass(frozen=True)
class Bucket:
    """A bucket of values from `lower` to `upper`, both included."""

    lower: int
    upper: int
    count: int


class CurvePoint(NamedTuple):
    """A point of a cumulative distribution."""

    value: int

    # The exact number of values that are at most `value`.
    count_at_most: int


def bucket_index(value: int) -> int:
    """Returns the bucket of a value from 0 to MAX_VALUE."""
    octave = (value | (_SUB_BUCKETS - 1)).bit_length() - SUB_BUCKET_BITS
    return octave * _SUB_BUCKETS + ((value >> _shift(octave)) & (_SUB_BUCKETS - 1))


def bucket_bounds(index: int) -> tuple[int, int]:
    """Returns the smallest and the largest value of a bucket."""
    octave, sub_bucket = divmod(index, _SUB_BUCKETS)
    leading = _SUB_BUCKETS if octave > 0 else 0
    lower = (leading + sub_bucket) << _shift(octave)
    return lower, lower + (1 << _shift(octave)) - 1


def _shift(octave: int) -> int:
    return octave - 1 if octave > 0 else 0


class Histogram:
    """A mergeable histogram of non-negative integers, such as nanoseconds.

    Minimum, maximum, mean and counts are exact. Other quantiles are the middle
    of a bucket, which is off by less than 0.4 %. Adding two histograms gives
    exactly the histogram of all of their values.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._overflow_count = 0
        self._count = 0
        self._min: int | None = None
        self._max: int | None = None
        self._sum = 0.0
        self._sum_of_squares = 0.0

    @classmethod
    def from_proto(cls, proto: results_pb2.Histogram) -> "Histogram":
        """Decodes the histogram of a result.

        Raises:
            ResultError: it contradicts itself, or a later version wrote it.
        """
        histogram = cls()
        histogram._decode_buckets(proto)
        histogram._decode_moments(proto)
        return histogram

    @property
    def count(self) -> int:
        """The number of values, including those that overflowed."""
        return self._count

    @property
    def overflow_count(self) -> int:
        """The number of values above MAX_VALUE."""
        return self._overflow_count

    @property
    def min(self) -> int | None:
        """The smallest value; None if there are no values."""
        return self._min

    @property
    def max(self) -> int | None:
        """The largest value; None if there are no values."""
        return self._max

    @property
    def mean(self) -> float | None:
        """The mean; None if there are no values."""
        return self._sum / self._count if self._count > 0 else None

    @property
    def standard_deviation(self) -> float | None:
        """The standard deviation; None if there are no values."""
        mean = self.mean
        if mean is None:
            return None
        return math.sqrt(max(0.0, self._sum_of_squares / self._count - mean * mean))

    def record(self, value: int, count: int = 1) -> None:
        """Adds a value `count` times. Negative values count as 0."""
        if count <= 0:
            return
        value = max(value, 0)
        if value > MAX_VALUE:
            self._overflow_count += count
        else:
            index = bucket_index(value)
            self._counts[index] = self._counts.get(index, 0) + count
        self._count += count
        total = float(value) * count
        self._add_moments(value, value, total, total * value)

    def merge(self, other: "Histogram") -> None:
        """Adds the values of another histogram."""
        for index, count in other._counts.items():
            self._counts[index] = self._counts.get(index, 0) + count
        self._overflow_count += other._overflow_count
        self._count += other._count
        if other._min is not None and other._max is not None:
            self._add_moments(
                other._min, other._max, other._sum, other._sum_of_squares
            )

    def __add__(self, other: "Histogram") -> "Histogram":
        total = Histogram()
        total.merge(self)
        total.merge(other)
        return total

    def value_at_quantile(self, quantile: float) -> int:
        """Returns the value at position floor(count * quantile) of the sorted
        values, from 0. Values that overflowed count as the maximum.

        Raises:
            ValueError: there are no values, or `quantile` is not from 0 to 1.
        """
        if self._min is None or self._max is None:
            raise ValueError("a histogram without values has no quantiles")
        if not 0 <= quantile <= 1:
            raise ValueError(f"the quantile {quantile} is not from 0 to 1")
        last = self._count - 1
        position = min(last, int(self._count * quantile))
        if position == 0:
            return self._min
        if position == last:
            return self._max
        seen = 0
        for index in sorted(self._counts):
            seen += self._counts[index]
            if seen > position:
                lower, upper = bucket_bounds(index)
                return min(max((lower + upper) // 2, self._min), self._max)
        return self._max  # Among those that overflowed.

    def count_at_most(self, value: float) -> int:
        """Returns how many values are at most `value`, with all values of its
        bucket."""
        if self._max is None or value < 0:
            return 0
        if value >= self._max:
            return self._count
        if value > MAX_VALUE:
            return self._count - self._overflow_count
        last = bucket_index(int(value))
        return sum(count for index, count in self._counts.items() if index <= last)

    def buckets(self) -> Iterator[Bucket]:
        """Lists the buckets that have values, ascending."""
        for index in sorted(self._counts):
            yield Bucket(*bucket_bounds(index), self._counts[index])

    def curve(self, points_per_halving: int = 24) -> list[CurvePoint]:
        """Returns points of the cumulative distribution, ascending.

        They become denser towards the maximum: `points_per_halving` for each
        halving of the share of values above. The last one is the maximum.
        """
        curve: list[CurvePoint] = []
        if self._max is None:
            return curve
        count = 0
        next_tick = 0.0
        for bucket in self.buckets():
            count += bucket.count
            if count == self._count:
                break
            share = count / self._count
            if share >= next_tick:
                curve.append(CurvePoint(bucket.upper, count))
                next_tick = _next_tick(share, points_per_halving)
        curve.append(CurvePoint(self._max, self._count))
        return curve

    def to_proto(self) -> results_pb2.Histogram:
        """Encodes the histogram as results have it."""
        proto = results_pb2.Histogram(sub_bucket_bits=SUB_BUCKET_BITS)
        if self._min is None or self._max is None:
            return proto
        previous = 0
        for index in sorted(self._counts):
            proto.bucket_index_deltas.append(index - previous)
            proto.bucket_counts.append(self._counts[index])
            previous = index
        if self._overflow_count > 0:
            proto.overflow_count = self._overflow_count
        proto.min = self._min
        proto.max = self._max
        proto.sum = self._sum
        proto.sum_of_squares = self._sum_of_squares
        return proto

    def _add_moments(
        self, minimum: int, maximum: int, total: float, squares: float
    ) -> None:
        self._min = minimum if self._min is None else min(self._min, minimum)
        self._max = maximum if self._max is None else max(self._max, maximum)
        self._sum += total
        self._sum_of_squares += squares

    def _decode_buckets(self, proto: results_pb2.Histogram) -> None:
        if proto.sub_bucket_bits != SUB_BUCKET_BITS:
            raise ResultError(
                f"a histogram has sub_bucket_bits {proto.sub_bucket_bits}; "
                f"this version reads {SUB_BUCKET_BITS}"
            )
        if len(proto.bucket_index_deltas) != len(proto.bucket_counts):
            raise ResultError(
                f"a histogram has {len(proto.bucket_index_deltas)} bucket "
                f"indices for {len(proto.bucket_counts)} counts"
            )
        index = 0
        for delta, count in zip(proto.bucket_index_deltas, proto.bucket_counts):
            index += delta
            if index in self._counts or index >= BUCKET_COUNT or count == 0:
                raise ResultError(
                    f"a histogram has a bucket {index} with a count of {count}, "
                    "which is empty, named twice or beyond the last one"
                )
            self._counts[index] = count
        self._overflow_count = proto.overflow_count
        self._count = sum(self._counts.values()) + self._overflow_count
        if self._count > _MAX_COUNT:
            raise ResultError("a histogram counts more than 2^63 values")

    def _decode_moments(self, proto: results_pb2.Histogram) -> None:
        if not self._extremes_match(proto):
            raise ResultError(
                f"a histogram has a min of {proto.min} and a max of {proto.max}, "
                "which its buckets contradict"
            )
        for total in (proto.sum, proto.sum_of_squares):
            if not (math.isfinite(total) and total >= 0):
                raise ResultError(
                    f"a histogram has a sum of {proto.sum} and a sum of squares "
                    f"of {proto.sum_of_squares}; both must be finite and at "
                    "least 0"
                )
        if self._count > 0:
            self._add_moments(proto.min, proto.max, proto.sum, proto.sum_of_squares)

    def _extremes_match(self, proto: results_pb2.Histogram) -> bool:
        """Whether the extremes lie in the outermost buckets."""
        if self._count == 0:
            return not proto.HasField("min") and not proto.HasField("max")
        first = min(self._counts, default=BUCKET_COUNT)
        last = BUCKET_COUNT if self._overflow_count > 0 else max(self._counts)
        return (
            proto.HasField("min")
            and proto.HasField("max")
            and 0 <= proto.min <= proto.max
            and _index_or_overflow(proto.min) == first
            and _index_or_overflow(proto.max) == last
        )


def _index_or_overflow(value: int) -> int:
    return bucket_index(value) if value <= MAX_VALUE else BUCKET_COUNT


def _next_tick(share: float, points_per_halving: int) -> float:
    """The first tick above `share`; ticks divide each halving of the remaining
    share into equal parts."""
    halvings = math.floor(-math.log2(1 - share))
    step = 2.0 ** (-halvings - 1) / points_per_halving
    return (math.floor(share / step + 1e-9) + 1) * step
